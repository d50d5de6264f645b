"""scripts/bench_models.py on a tiny model, without the peer: the lines that it prints."""

import json
import subprocess
import sys
import tempfile
import unittest

import programs

FIGURES = ["ms", "p10_ms", "p90_ms", "process_ms", "set_ms"]


class BenchModels(unittest.TestCase):
    def setUp(self):
        nets = tempfile.TemporaryDirectory()
        self.addCleanup(nets.cleanup)
        self.nets = nets.name

    def bench(self, *options):
        """The lines, read."""
        done = subprocess.run(
            [sys.executable, programs.source("scripts/bench_models.py"), "--bin", programs.BIN,
             "--no-peer", "--nets", self.nets, "--seconds", "0.02", *options],
            capture_output=True, text=True, timeout=programs.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_each_model_and_thread_count_has_a_line(self):
        lines = self.bench("--models", programs.source("models/digits"), "--threads", "1,2",
                           "--rounds", "2")
        self.assertEqual([(line["bench"], line.get("model"), line.get("threads")) for line in lines],
                         [("machine", None, None),
                          ("model", "identity", 1), ("model", "identity", 2),
                          ("model", "digits", 1), ("model", "digits", 2),
                          ("models", None, None)])
        for line in lines[1:-1]:
            for side in ("engine", "unix", "tcp"):
                for figure in FIGURES:
                    self.assertIn(f"{side}_{figure}", line)
                self.assertEqual(len(line[f"{side}_process_ms"]), 2)
                self.assertLessEqual(0, line[f"{side}_p10_ms"])
                self.assertLessEqual(line[f"{side}_p10_ms"], line[f"{side}_p90_ms"])
            self.assertGreater(line["engine_peak_mb"], 1)
            self.assertGreater(line["daemon_peak_mb"], 1)
            self.assertNotIn("ratio", line)
        digits = lines[3]
        self.assertEqual(len(digits["engine_set_ms"]), 2)
        self.assertEqual(digits["nodes"], digits["computing_nodes"])
        self.assertGreater(digits["launches"], 0)
        self.assertEqual(lines[-1]["geomean_engine_over_peer"], {"1": None, "2": None})

    def test_a_profile_tells_the_time_by_kernel_and_by_node(self):
        line = self.bench("--models", programs.source("models/digits"), "--threads", "1", "--quick",
                          "--profile", "2")[2]
        profile = line["profile"]["engine"]
        self.assertIn("Conv", [row["op"] for row in profile["kernels"]])
        self.assertEqual(sum(row["launches"] for row in profile["kernels"]), line["launches"])
        self.assertEqual(len(profile["nodes"]), 2)
        self.assertGreaterEqual(profile["nodes"][0]["ms"], profile["nodes"][1]["ms"])
        self.assertLess(0, profile["between_ms"])
        self.assertLess(profile["between_ms"], profile["run_ms"])

    def test_a_model_that_cannot_run_has_a_line_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("model.onnx", "test_data_set_0"):
                subprocess.run(["cp", "-r", programs.source("models/digits", name), folder], check=True)
            subprocess.run(["cp", programs.source("README.md"), f"{folder}/model.onnx"], check=True)
            lines = self.bench("--models", folder, "--threads", "1", "--quick")
        self.assertIn("engine_bench: ", lines[2]["error"])
        self.assertEqual(lines[-1]["bench"], "models")


if __name__ == "__main__":
    unittest.main()
