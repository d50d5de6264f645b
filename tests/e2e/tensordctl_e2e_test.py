"""tensordctl against the daemon: models submitted, run, compared, explained, accounted."""

import collections
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402

DIGITS = programs.source("models/digits/model.onnx")
SETS = [programs.source(f"models/digits/test_data_set_{i}") for i in (0, 1)]
# What no compile pass makes part of another node: the least that one run of the digits model launches, by op.
LAUNCHES = {"Conv": 3, "Gemm": 2, "MaxPool": 1, "Softmax": 1}


def default_graph_id(path):
    """The id of an ONNX file with default options, by the rule of graph_service.proto."""
    with open(path, "rb") as file:
        of_bytes = hashlib.sha256(file.read()).digest()
    onnx_format, strict, deterministic = 2, 1, 0
    options = struct.pack("<BBII", strict, deterministic, 0, 0)
    return hashlib.sha256(
        b"tensord-graph-1\n" + bytes([onnx_format]) + of_bytes + options).hexdigest()


class WithDaemon(unittest.TestCase):
    options = ()

    def setUp(self):
        self.daemon = programs.Daemon(*self.options)
        self.addCleanup(self.daemon.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def assert_refused(self, outcome, code_name):
        self.assertEqual(outcome.code, 2, outcome)
        self.assertTrue(outcome.err.startswith(f"tensordctl: {code_name}: "), outcome.err)
        self.assertEqual(outcome.out, "")


class Digits(WithDaemon):
    def explained_launches(self):
        """Launches of one run, by op. Flatten is a view and launches nothing."""
        explained = self.daemon.ctl_json("explain", DIGITS, "--set", "N=2")
        launches = collections.Counter(
            node["op"] for node in explained["nodes"] if node["kernel"])
        for op, count in LAUNCHES.items():
            self.assertEqual(launches[op], count)
        return launches

    def test_the_digit_of_the_sample_is_read(self):
        with open(programs.source("models/digits/labels.json"), encoding="utf-8") as file:
            label = json.load(file)["sample.npy"][0]
        sample = programs.source("models/digits/sample.npy")
        arguments = ("run", DIGITS, "--input", f"image={sample}", "--top", "1")
        top = self.daemon.ctl_json(*arguments)["top"][0]["classes"][0]
        self.assertEqual(top["class"], label)
        self.assertGreater(top["score"], 0.5)
        text = self.daemon.ctl(*arguments).out
        self.assertRegex(text, rf"(?m)^ *0 +{label} +0\.\d+$")

    def test_outputs_are_as_another_runtime_computed_them(self):
        outcome = self.daemon.ctl("run", DIGITS, "--expect", *SETS)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out.count("as expected"), 2)

    def test_an_output_that_differs_is_exit_code_5(self):
        wrong = os.path.join(self.folder, "set")
        os.mkdir(wrong)
        for name in ("input_0.pb", "output_0.pb"):
            tensor = onnx.load_tensor(os.path.join(SETS[0], name))
            values = numpy_helper.to_array(tensor).copy()
            if name == "output_0.pb":
                values[0, 3] += 0.25
            onnx.save_tensor(numpy_helper.from_array(values), os.path.join(wrong, name))
        outcome = self.daemon.ctl("run", DIGITS, "--expect", wrong)
        self.assertEqual(outcome.code, 5, outcome)
        self.assertIn("1 of 10 elements outside, the worst at 3", outcome.out)

    def test_written_outputs_are_what_numpy_reads(self):
        out = os.path.join(self.folder, "out")
        self.daemon.ctl_json("run", DIGITS, "--input", "random", "--set", "N=7",
                             "--output-dir", out)
        values = numpy.load(os.path.join(out, "probabilities.npy"))
        self.assertEqual((values.shape, values.dtype), ((7, 10), numpy.float32))
        numpy.testing.assert_allclose(values.sum(axis=1), 1, rtol=1e-5)

    def test_numpy_proto_and_json_inputs_give_the_same(self):
        image = numpy.load(programs.source("models/digits/sample.npy"))
        files = {end: os.path.join(self.folder, "x" + end) for end in (".npy", ".pb", ".json")}
        numpy.save(files[".npy"], image)
        onnx.save_tensor(numpy_helper.from_array(image), files[".pb"])
        with open(files[".json"], "w", encoding="utf-8") as file:
            json.dump(image.tolist(), file)
        outputs = [
            self.daemon.ctl_json("run", DIGITS, "--input", f"image={path}")["outputs"]
            for path in files.values()
        ]
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])

    def test_the_profile_counts_each_launch(self):
        launches = self.explained_launches()
        self.daemon.ctl_json("profile", "--set", "full")
        before = self.daemon.ctl_json("profile")
        self.daemon.ctl_json("run", DIGITS, "--input", "random", "--set", "N=2", "--repeat", "5")
        after = self.daemon.ctl_json("profile")
        self.assertEqual(before["rows"], [])
        counts = {row["op"]: row["launch_count"] for row in after["rows"]}
        self.assertEqual(counts, {op: 5 * count for op, count in launches.items()})
        for row in after["rows"]:
            self.assertEqual(row["host_time"]["sample_count"], row["launch_count"])
            self.assertEqual(sum(row["host_time"]["bucket_counts"]), row["launch_count"])
        table = self.daemon.ctl("profile").out.splitlines()
        self.assertEqual(table[0], "op_profile full")
        self.assertEqual(table[1].split()[:3], ["OP", "BACKEND", "LAUNCHES"])
        self.assertEqual(len(table), 2 + len(launches))

    def test_a_trace_has_each_launch_in_order(self):
        answer = self.daemon.ctl_json("run", DIGITS, "--input", "random", "--set", "N=2",
                                      "--trace")
        rows = answer["trace"]["rows"]
        self.assertEqual([row["op"] for row in rows].count("Conv"), 3)
        self.assertEqual(len(rows), sum(self.explained_launches().values()))
        starts = [row["start_ns"] for row in rows]
        self.assertEqual(starts, sorted(starts))

    def test_a_trace_for_perfetto_has_phases_and_nodes(self):
        path = os.path.join(self.folder, "trace.json")
        started = self.daemon.ctl_json("start", DIGITS, "--input", "random", "--set", "N=2", "--trace")
        self.assertEqual(self.daemon.ctl("trace", started["execution_id"], "--output", path).code, 0)
        of_start = self.read_trace(path)
        self.assertEqual(self.daemon.ctl("run", DIGITS, "--input", "random", "--set", "N=2",
                                         "--trace-file", path).code, 0)
        of_run = self.read_trace(path)
        expected = self.explained_launches()
        for phases, launches in (of_start, of_run):
            self.assertIn("run", phases)
            self.assertEqual(collections.Counter(it["args"]["op"] for it in launches), expected)
            self.assertTrue(all(it["args"]["bytes"] > 0 for it in launches))
            begin, end = phases["run"]["ts"], phases["run"]["ts"] + phases["run"]["dur"]
            for launch in launches:
                # Beside the phases, which another clock may place a moment earlier or later.
                self.assertGreater(launch["ts"], begin - 1000)
                self.assertLess(launch["ts"] + launch["dur"], end + 1000)

    def read_trace(self, path):
        """The phases by name, and the launches."""
        with open(path, encoding="utf-8") as file:
            slices = [it for it in json.load(file)["traceEvents"] if it["ph"] == "X"]
        return ({it["name"]: it for it in slices if it["cat"] == "phase"},
                [it for it in slices if it["cat"] == "launch"])

    def test_explain_tells_kernels_and_memory(self):
        explained = self.daemon.ctl_json("explain", DIGITS, "--set", "N=4")
        model = onnx.load(DIGITS)
        fused_from = [name for node in explained["nodes"] for name in node["fused_from"]]
        names = [node.name for node in model.graph.node]
        # Each node of the model went into one; a change of layout may add its own.
        self.assertEqual(sorted(name for name in fused_from if name in names), sorted(names))
        self.assertTrue(any(len(node["fused_from"]) > 1 for node in explained["nodes"]))
        self.assertEqual({node["device"] for node in explained["nodes"]}, {"cpu:0"})
        memory = explained["compiled"]["memory"]
        self.assertGreaterEqual(memory["peak_bytes"], memory["arena_bytes"])
        self.assertGreaterEqual(memory["arena_bytes"], memory["arena_lower_bound_bytes"])
        text = self.daemon.ctl("explain", DIGITS, "--set", "N=4").out
        self.assertRegex(text, r"(?m)^ *0 +Conv +conv1 ")

    def test_a_precision_makes_another_graph(self):
        ids, answers = {}, {}
        for precision in ("strict", "tf32", "bf16"):
            outcome = self.daemon.ctl("submit", DIGITS, "--quiet", "--precision", precision)
            ids[precision] = outcome.out.strip()
            explained = self.daemon.ctl_json("explain", ids[precision], "--set", "N=64")
            kernels = [node["kernel"] for node in explained["nodes"]]
            rounds = any(kernel.endswith("_bf16") for kernel in kernels)
            self.assertFalse(rounds and precision != "bf16", kernels)
            answers[precision] = self.daemon.ctl_json(
                "run", ids[precision], "--input", "random", "--seed", "3", "--set", "N=64")["outputs"]
        self.assertEqual(len(set(ids.values())), 3)
        self.assertEqual(answers["strict"], answers["tf32"])

    def test_graphs_are_held_until_they_are_deleted(self):
        graph_id = self.daemon.ctl("submit", DIGITS, "--quiet").out.strip()
        self.assertEqual(graph_id, default_graph_id(DIGITS))
        self.assertTrue(self.daemon.ctl_json("submit", DIGITS)["already_known"])
        held = self.daemon.ctl_json("graphs")["graphs"]
        self.assertEqual([graph["graph_id"] for graph in held], [graph_id])
        self.daemon.ctl_json("run", graph_id[:8], "--input", "random", "--set", "N=1")
        self.daemon.ctl_json("graphs", "delete", graph_id)
        outcome = self.daemon.ctl("run", graph_id, "--input", "random", "--set", "N=1")
        self.assert_refused(outcome, "NOT_FOUND")

    def test_devices_and_kernels_are_those_of_the_cpu(self):
        devices = self.daemon.ctl_json("devices")["devices"]
        self.assertEqual([device["name"] for device in devices], ["cpu:0"])
        kernels = self.daemon.ctl_json("kernels", "--op", "Softmax")["kernels"]
        self.assertIn("softmax_f32_rows", [kernel["name"] for kernel in kernels])

    def test_the_readme_example_runs(self):
        done = subprocess.run([os.path.join(programs.BIN, "client_example"), self.daemon.address],
                              capture_output=True, text=True, timeout=programs.PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (0, "0 2.5\n"), done.stderr)


class Terminal(WithDaemon):
    def show(self, *arguments, columns=80, **variables):
        return programs.ctl_on_terminal(*arguments, "--address", self.daemon.address,
                                        columns=columns, **variables)

    def test_only_a_terminal_gets_colours(self):
        self.assertIn("\x1b[", self.show("devices"))
        self.assertNotIn("\x1b[", self.show("devices", NO_COLOR="1"))
        self.assertNotIn("\x1b[", self.show("devices", TERM="dumb"))
        self.assertNotIn("\x1b[", self.daemon.ctl("devices").out)
        self.assertTrue(self.show("run", "no-such-graph").startswith("\x1b[31mtensordctl: "))

    def test_a_table_fits_its_terminal(self):
        wide = self.show("kernels", "--op", "Conv", columns=300, NO_COLOR="1")
        narrow = self.show("kernels", "--op", "Conv", columns=72, NO_COLOR="1")
        self.assertGreater(max(map(len, wide.splitlines())), 72)
        self.assertLessEqual(max(map(len, narrow.splitlines())), 72)
        self.assertIn("conv_f32_im2col", narrow)


class Refusals(WithDaemon):
    def model(self, *nodes, dims=(2,)):
        """A model of these nodes from x to y, as a file."""
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(list(nodes), "g", [x], [y])
        path = os.path.join(self.folder, "model.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
        return path

    def test_an_op_without_a_kernel_is_told_with_its_details(self):
        path = self.model(helper.make_node("NoSuchOp", ["x"], ["y"], name="odd"))
        self.assert_refused(self.daemon.ctl("submit", path), "UNIMPLEMENTED")
        error = json.loads(self.daemon.ctl("submit", path, "--json").err)["error"]
        self.assertEqual(error["details"]["NoBackendForOp"]["op"], "NoSuchOp")
        self.assertEqual(error["details"]["NoBackendForOp"]["node"], "odd")

    def test_a_cycle_is_invalid(self):
        path = self.model(helper.make_node("Add", ["x", "b"], ["a"]),
                          helper.make_node("Relu", ["a"], ["b"]),
                          helper.make_node("Relu", ["b"], ["y"]))
        self.assert_refused(self.daemon.ctl("submit", path), "INVALID_ARGUMENT")

    def test_a_truncated_model_is_invalid(self):
        with open(DIGITS, "rb") as file:
            bytes_ = file.read()
        path = os.path.join(self.folder, "cut.onnx")
        for size in (0, 1, 100, len(bytes_) - 1):
            with open(path, "wb") as file:
                file.write(bytes_[:size])
            self.assert_refused(self.daemon.ctl("submit", path), "INVALID_ARGUMENT")

    def test_an_input_of_another_shape_is_invalid_and_names_both(self):
        outcome = self.daemon.ctl("run", DIGITS, "--input", "image=random:1x1x8x9")
        self.assert_refused(outcome, "INVALID_ARGUMENT")
        self.assertIn("float32[N,1,8,8]", outcome.err)
        self.assertIn("9", outcome.err)

    def test_the_daemon_goes_on_after_all_of_them(self):
        self.test_a_truncated_model_is_invalid()
        self.assertEqual(self.daemon.ctl("run", DIGITS, "--expect", *SETS).code, 0)


class SmallMessages(WithDaemon):
    options = ("--max-message-bytes", "100KiB")

    def test_a_model_above_the_message_limit_is_uploaded(self):
        self.assertGreater(os.path.getsize(DIGITS), 100 << 10)
        outcome = self.daemon.ctl("run", DIGITS, "--expect", *SETS)
        self.assertEqual(outcome.code, 0, outcome)


class Health(unittest.TestCase):
    def test_it_is_serving_and_then_gone(self):
        with programs.Daemon() as daemon:
            outcome = daemon.ctl("health")
            self.assertEqual((outcome.code, outcome.out), (0, "SERVING\n"))
            self.assertEqual(daemon.stop(), 0, daemon.log)
            outcome = daemon.ctl("health")
            self.assertEqual(outcome.code, 3)
            self.assertTrue(outcome.err.startswith("tensordctl: UNAVAILABLE: "), outcome.err)


if __name__ == "__main__":
    unittest.main()
