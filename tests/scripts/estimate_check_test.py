"""scripts/estimate_check.py over an engine_bench whose launches are given."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def launch(estimated_ms, median_ms, kernel="add_f32"):
    return {"kernel": kernel, "estimated_ms": estimated_ms, "median_ms": median_ms}


class EstimateCheck(unittest.TestCase):
    def run_over(self, nodes, *arguments):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            model = folder / "net"
            (model / "test_data_set_0").mkdir(parents=True)
            (model / "model.onnx").touch()
            bench = folder / "engine_bench"
            profile = {} if nodes is None else {"nodes": nodes}
            bench.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'profile': profile})}\nEND\n", encoding="ascii")
            bench.chmod(0o755)
            return subprocess.run(
                [sys.executable, ROOT / "scripts/estimate_check.py", "--bin", folder, "--models", model, *arguments],
                capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})

    def test_twice_and_half_are_good_and_more_is_not(self):
        done = self.run_over([launch(1, 2), launch(2, 1), launch(1, 2.1), launch(2.1, 1)])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"all +2 of +4 +50\.0 %")

    def test_a_share_below_the_floor_fails(self):
        nodes = [launch(1, 1), launch(1, 9)]
        self.assertEqual(self.run_over(nodes, "--at-least", "0.5").returncode, 0)
        self.assertEqual(self.run_over(nodes, "--at-least", "0.51").returncode, 1)

    def test_kernels_are_told_the_worst_first(self):
        nodes = [launch(1, 1, "good"), launch(1, 4, "slow"), launch(1, 8, "slow")]
        lines = self.run_over(nodes, "--kernels").stdout.splitlines()
        self.assertTrue(lines[-2].startswith("slow"), lines)
        self.assertTrue(lines[-1].startswith("good"), lines)

    def test_a_staged_model_is_said_to_be_left_out(self):
        done = self.run_over(None)
        self.assertIn("planned while it runs", done.stdout)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
