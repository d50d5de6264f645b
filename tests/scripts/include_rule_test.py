"""Who may include what (docs/ARCHITECTURE.md), checked over the whole tree.

    server/ -> engine/ -> backends/api/ <- backends/{cpu,cuda,vulkan,null}/

Protobuf stays at the edge, engine/ names no vendor, and of the daemon only server/main.cc knows
which backends there are. The second half of the tests plants one violation of each rule in a tree
of its own and expects it to be found.
"""

import os
import re
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

SOURCES = (".h", ".cc", ".cpp", ".cu", ".cuh", ".inc")
PARTS = ("backends", "engine", "server", "clients", "tools", "bench", "tests")
PROTO_ROOTS = ("tensord/", "inference/", "google/", "grpc/", "onnx/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]')
PROTOBUF = re.compile(r"\.pb\.h$|^google/protobuf/")
GRPC = re.compile(r"^(grpc|grpcpp|grpc\+\+)/")
CONCRETE_BACKEND = re.compile(r"^backends/(?!api/)")
VENDOR = re.compile(r"cuda|vulkan|nvidia", re.IGNORECASE)
BACKEND_NAME = re.compile(r"BackendId::k\w+")

# Rows of (folder, project folders that its files may include); the longest folder that matches
# counts. A folder always sees itself. None: any of them.
MAY_INCLUDE = [
    ("backends/api/", []),
    ("backends/", ["backends/api/"]),
    ("engine/", ["engine/", "backends/api/"]),
    ("server/", ["engine/", "backends/api/"]),
    ("server/main.cc", None),
    ("clients/", []),
    ("tools/", ["clients/", "engine/", "backends/api/"]),
    # Prints the list of metrics for docs/metrics.md, and nothing else.
    ("tools/list_metrics/", ["server/metrics/"]),
    ("bench/", None),
    ("tests/", None),
]
SEES_PROTOBUF = ("server/", "engine/onnx/", "clients/", "tools/", "bench/", "tests/")
SEES_GRPC = ("server/", "clients/", "tools/", "bench/", "tests/")


def own_folder(path):
    """backends/cpu/kernels/conv.cc belongs to backends/cpu/, all else to its first folder."""
    parts = path.split("/")
    depth = 2 if parts[0] == "backends" else 1
    return "/".join(parts[:depth]) + "/"


def is_project(name):
    return name.startswith(tuple(part + "/" for part in PARTS))


def check_include(path, quote, name):
    """The rules that this include breaks, as texts."""
    if PROTOBUF.search(name) and not path.startswith(SEES_PROTOBUF):
        yield f"includes protobuf code ({name})"
    if GRPC.search(name) and not path.startswith(SEES_GRPC):
        yield f"includes gRPC ({name})"
    if not is_project(name):
        generated = name.startswith(PROTO_ROOTS) and PROTOBUF.search(name)
        # Quotes are for our own headers, and Abseil and GoogleTest go with either.
        if quote == '"' and not generated and not name.startswith(("absl/", "gtest/", "gmock/")):
            if "/" not in name or name.startswith("."):
                yield f"includes {name} by a path that does not start at the repository root"
        return
    folder, allowed = max((row for row in MAY_INCLUDE if path.startswith(row[0])),
                          key=lambda row: len(row[0]))
    if allowed is None or name.startswith(own_folder(path)):
        pass
    elif not name.startswith(tuple(allowed)):
        if CONCRETE_BACKEND.search(name):
            yield f"includes a concrete backend ({name}); {folder} may not know which there are"
        else:
            yield f"includes {name}; {folder} may include {', '.join(allowed) or 'only itself'}"
    if name.startswith("engine/onnx/") and path.startswith("engine/") \
            and not path.startswith("engine/onnx/"):
        yield f"includes the ONNX reader ({name}), which brings protobuf"


def check_line(path, line):
    match = INCLUDE.match(line)
    if match:
        yield from check_include(path, match.group(1), match.group(2))
    if path.startswith("engine/"):
        for found in VENDOR.findall(line):
            yield f"names a vendor ({found})"
        for found in BACKEND_NAME.findall(line):
            yield f"names a backend ({found})"


def violations(root):
    found = []
    for part in PARTS:
        for folder, _, names in os.walk(os.path.join(root, part)):
            for name in names:
                if not name.endswith(SOURCES):
                    continue
                full = os.path.join(folder, name)
                path = os.path.relpath(full, root)
                with open(full, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        found += [f"{path}:{number}: {what}" for what in check_line(path, line)]
    return sorted(found)


class TheRepository(unittest.TestCase):
    def test_keeps_the_include_rule(self):
        self.assertEqual(violations(ROOT), [])

    def test_has_sources_that_were_looked_at(self):
        self.assertTrue(os.path.isfile(os.path.join(ROOT, "backends/api/revisions.h")))


class APlantedViolation(unittest.TestCase):
    def found(self, path, text):
        with tempfile.TemporaryDirectory() as root:
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full))
            with open(full, "w", encoding="utf-8") as file:
                file.write("// Some file.\n" + text + "\n")
            return violations(root)

    def assert_caught(self, path, text, words):
        found = self.found(path, text)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:2: "), found)
        self.assertIn(words, found[0])

    def assert_allowed(self, path, text):
        self.assertEqual(self.found(path, text), [])

    def test_engine_sees_itself_and_the_contract_only(self):
        self.assert_allowed("engine/exec/a.cc", '#include "engine/graph/graph.h"')
        self.assert_allowed("engine/exec/a.cc", '#include "backends/api/dtype.h"')
        self.assert_caught("engine/exec/a.cc", '#include "server/config.h"', "server/config.h")
        self.assert_caught("engine/exec/a.cc", '#include "backends/cpu/cpu.h"', "concrete backend")
        self.assert_caught("engine/exec/a.h", '# include <backends/null/n.h>', "concrete backend")

    def test_the_contract_sees_itself_only(self):
        self.assert_caught("backends/api/a.h", '#include "engine/graph/graph.h"', "only itself")
        self.assert_caught("backends/api/a.h", '#include "backends/cpu/cpu.h"', "concrete backend")

    def test_a_backend_sees_itself_and_the_contract_only(self):
        self.assert_allowed("backends/cpu/kernels/a.cc", '#include "backends/cpu/pool.h"')
        self.assert_allowed("backends/cpu/kernels/a.cc", '#include "backends/api/dtype.h"')
        self.assert_caught("backends/cpu/a.cc", '#include "backends/null/n.h"', "concrete backend")
        self.assert_caught("backends/cuda/a.cu", '#include "engine/graph/graph.h"', "engine/graph")

    def test_only_main_knows_the_backends(self):
        self.assert_allowed("server/main.cc", '#include "backends/cpu/cpu.h"')
        self.assert_caught("server/config.cc", '#include "backends/cpu/cpu.h"', "concrete backend")
        self.assert_caught("tools/ctl/a.cc", '#include "backends/null/n.h"', "concrete backend")
        self.assert_caught("clients/cpp/a.cc", '#include "server/config.h"', "server/config.h")

    def test_protobuf_stays_at_the_edge(self):
        self.assert_allowed("server/a.cc", '#include "tensord/v1/graph.pb.h"')
        self.assert_allowed("engine/onnx/a.cc", '#include "onnx/onnx.pb.h"')
        self.assert_caught("engine/exec/a.cc", '#include "tensord/v1/graph.pb.h"', "protobuf")
        self.assert_caught("backends/cpu/a.cc", "#include <google/protobuf/arena.h>", "protobuf")
        self.assert_caught("engine/exec/a.cc", '#include "engine/onnx/reader.h"', "ONNX reader")

    def test_grpc_stays_further_out(self):
        self.assert_allowed("server/a.cc", "#include <grpcpp/grpcpp.h>")
        self.assert_caught("engine/onnx/a.cc", "#include <grpcpp/grpcpp.h>", "gRPC")

    def test_engine_names_no_vendor_even_in_comments(self):
        self.assert_caught("engine/exec/a.cc", "// as a CUDA stream does", "vendor (CUDA)")
        self.assert_caught("engine/exec/a.cc", 'if (name == "vulkan") return;', "vendor (vulkan)")
        self.assert_caught("engine/exec/a.cc", "return BackendId::kCpu;", "BackendId::kCpu")
        self.assert_allowed("backends/api/a.h", "// kPending: a CUDA event is recorded.")

    def test_includes_start_at_the_root(self):
        self.assert_caught("engine/exec/a.cc", '#include "executor.h"', "repository root")
        self.assert_caught("engine/exec/a.cc", '#include "../graph/graph.h"', "repository root")
        self.assert_allowed("engine/exec/a.cc", '#include "absl/status/status.h"')


if __name__ == "__main__":
    unittest.main()
