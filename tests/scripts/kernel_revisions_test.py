"""scripts/kernel_revisions.py: a revision changes with what its kernel is made of, and nothing else."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts")
sys.path.insert(0, SCRIPTS)

import kernel_revisions  # noqa: E402

FILES = {
    "backends/cpu/kernels/conv.cc": '#include "backends/cpu/kernels/tile.h"\nint conv;\n',
    "backends/cpu/kernels/relu.cc": '#include <cmath>\n#include "generated/none.pb.h"\nint relu;\n',
    "backends/cpu/kernels/tile.h": '# include "strides.h"\n#include "backends/api/dtype.h"\n',
    "backends/cpu/kernels/strides.h": '#include "backends/cpu/kernels/tile.h"\n',
    "backends/api/dtype.h": "enum class DType {};\n",
    "backends/api/device.h": "class Device;\n",
    "backends/cpu/kernels/chain.cc": '#include "backends/cpu/kernels/steps.h"\nint chain;\n',
    "backends/cpu/kernels/steps.h": "void Step();\n",
    "backends/cpu/kernels/steps.cc": (
        '#include "backends/cpu/kernels/steps.h"\n#include "backends/cpu/kernels/loops.inc"\n'),
    "backends/cpu/kernels/steps.cu": "void StepOnDevice();\n",
    "backends/cpu/kernels/loops.inc": '#include "backends/cpu/kernels/math.h"\n',
    "backends/cpu/kernels/math.h": "double Exp(double);\n",
    "backends/cpu/kernels/math.cc": "double Exp(double x) { return x; }\n",
}
UNUSED = {"backends/api/device.h"}
CONV = "backends/cpu/kernels/conv.cc"
RELU = "backends/cpu/kernels/relu.cc"
CHAIN = "backends/cpu/kernels/chain.cc"


class KernelRevisions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)

    def hashes(self):
        kernels = [os.path.join(self.root, path) for path in (RELU, CONV, CHAIN)]
        return {path: value for path, value, _ in kernel_revisions.revisions(self.root, kernels)}

    def changed_by(self, path, text):
        """The kernels whose revision changes when `path` gets another text."""
        before = self.hashes()
        self.write(path, text)
        after = self.hashes()
        return {kernel for kernel in before if before[kernel] != after[kernel]}

    def test_the_same_text_has_the_same_revision(self):
        self.assertEqual(self.changed_by(CONV, FILES[CONV]), set())

    def test_a_changed_kernel_changes_its_own_revision_only(self):
        self.assertEqual(self.changed_by(CONV, FILES[CONV] + "// one more\n"), {CONV})

    def test_a_direct_header_counts(self):
        path = "backends/cpu/kernels/tile.h"
        self.assertEqual(self.changed_by(path, FILES[path] + "int tile;\n"), {CONV})

    def test_an_indirect_header_counts_through_a_cycle(self):
        self.assertEqual(self.changed_by("backends/cpu/kernels/strides.h", "int strides;\n"), {CONV})
        self.write("backends/cpu/kernels/strides.h", FILES["backends/cpu/kernels/strides.h"])
        self.assertEqual(self.changed_by("backends/api/dtype.h", "int other;\n"), {CONV})

    def test_an_unrelated_file_does_not_count(self):
        self.assertEqual(self.changed_by("backends/api/device.h", "class Other;\n"), set())

    def test_what_defines_a_headers_functions_counts(self):
        for name in ("steps.h", "steps.cc", "steps.cu", "loops.inc", "math.h", "math.cc"):
            path = "backends/cpu/kernels/" + name
            self.assertEqual(self.changed_by(path, FILES[path] + "// more\n"), {CHAIN}, name)

    def test_an_operators_chain_has_its_functions_in_this_repository(self):
        root = os.path.join(SCRIPTS, "..")
        kernels = "backends/cpu/kernels/"
        path = kernels + "elementwise_chain.cc"
        (_, _, files), = kernel_revisions.revisions(root, [os.path.join(root, path)])
        for name in (kernels + "step_functions.cc", kernels + "step_loops.inc",
                     kernels + "vector_math.h", "backends/api/expression.cc"):
            self.assertIn(name, files)

    def test_text_moved_between_kernel_and_header_counts(self):
        header = "backends/cpu/kernels/tile.h"
        before = self.hashes()[CONV]
        self.write(CONV, FILES[CONV].replace("int conv;\n", ""))
        self.write(header, "int conv;\n" + FILES[header])
        self.assertNotEqual(self.hashes()[CONV], before)

    def test_the_program_writes_a_sorted_table_and_every_dependency(self):
        output = os.path.join(self.root, "out/table.cc")
        subprocess.run(
            [sys.executable, os.path.join(SCRIPTS, "kernel_revisions.py"), output,
             "--root", self.root, "--symbol", "CpuKernelRevision",
             "--header", "backends/cpu/kernel_revisions.h", "--depfile", output + ".d",
             os.path.join(self.root, RELU), os.path.join(self.root, CONV),
             os.path.join(self.root, CHAIN)], check=True)
        with open(output, encoding="utf-8") as file:
            text = file.read()
        self.assertLess(text.index(f'{{"{CONV}", 0x'), text.index(f'{{"{RELU}", 0x'))
        self.assertIn("uint64_t CpuKernelRevision(absl::string_view kernel_source)", text)
        with open(output + ".d", encoding="utf-8") as file:
            dependencies = file.read()
        for path in FILES:
            self.assertEqual(path in dependencies, path not in UNUSED, path)


if __name__ == "__main__":
    unittest.main()
