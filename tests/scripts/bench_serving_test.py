"""What scripts/bench.sh serving refuses, and how it tells a slope from noise."""

import importlib.util
import os
import pathlib
import random
import subprocess
import unittest

ROOT = pathlib.Path(os.environ.get("TENSORD_SOURCE_DIR") or
                    pathlib.Path(__file__).resolve().parent.parent.parent)

spec = importlib.util.spec_from_file_location("bench_serving", ROOT / "scripts/bench_serving.py")
bench_serving = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench_serving)


def summary_of(values):
    """Of a process whose resident bytes were these, once a second."""
    watch = bench_serving.Watch(daemon=None)
    watch.samples = [(float(at), {"rss_mb": value, "files": 20, "threads": 8})
                     for at, value in enumerate(values)]
    return watch.summary()


class BenchServing(unittest.TestCase):
    def test_refuses_a_mark_that_is_not_there_before_it_builds(self):
        outcome = subprocess.run([ROOT / "scripts/bench.sh", "serving", "speed"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("no mark is called speed; there are overhead,", outcome.stderr)

    def test_has_a_method_for_each_mark(self):
        for mark in bench_serving.MARKS:
            self.assertTrue(callable(getattr(bench_serving.Bench, mark)), mark)

    def test_finds_the_slope_of_a_line(self):
        slope, error = bench_serving.slope([(x, 3 + 2 * x) for x in range(10)])
        self.assertAlmostEqual(slope, 2)
        self.assertAlmostEqual(error, 0)

    def test_calls_noise_flat_and_growth_not(self):
        noise = random.Random(1)
        flat = [100 + noise.uniform(-1, 1) for _ in range(200)]
        self.assertTrue(summary_of(flat)["rss_mb"]["is_flat"])
        self.assertTrue(summary_of(flat)["files"]["is_flat"])
        growing = [value + 0.05 * at for at, value in enumerate(flat)]
        self.assertFalse(summary_of(growing)["rss_mb"]["is_flat"])

    def test_leaves_out_the_warm_up(self):
        self.assertTrue(summary_of([at for at in range(100)] + [100] * 100)["rss_mb"]["is_flat"])

    def test_has_nothing_to_say_of_no_samples(self):
        self.assertEqual(summary_of([]), {})


if __name__ == "__main__":
    unittest.main()
