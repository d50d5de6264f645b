"""What scripts/bench.sh models refuses, how it sums up, and how its lines become tables."""

import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TENSORD_SOURCE_DIR") or
                    pathlib.Path(__file__).resolve().parent.parent.parent)
DIGITS = ROOT / "models/digits"


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench_models = load("bench_models")
performance_doc = load("performance_doc")


def bench(*arguments):
    """--check, so that nothing is built or run even where an error is missed."""
    return subprocess.run([ROOT / "scripts/bench.sh", "models", "--check", *arguments],
                          capture_output=True, text=True, check=False)


def row(model, threads, engine_ms, peer_ms, counted=True):
    return {"bench": "model", "model": model, "threads": threads, "counted": counted,
            "engine_ms": engine_ms, "peer_ms": peer_ms, "ratio": engine_ms / peer_ms}


class Arguments(unittest.TestCase):
    def check_refused(self, message, *arguments):
        outcome = bench(*arguments)
        self.assertNotEqual(outcome.returncode, 0)
        self.assertIn(message, outcome.stderr)

    def test_right_ones_are_taken(self):
        outcome = bench("--models", str(DIGITS), "--threads", "1,2,3", "--quick", "--no-peer")
        self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)

    def test_thread_counts_are_numbers_from_one(self):
        for text in ("0", "1,", "two", "-1"):
            self.check_refused("--threads takes numbers from 1", f"--threads={text}",
                               "--models", str(DIGITS))

    def test_rounds_and_seconds_are_above_zero(self):
        self.check_refused("--rounds is at least 1", "--rounds=0", "--models", str(DIGITS))
        self.check_refused("--seconds is above 0", "--seconds=0", "--models", str(DIGITS))

    def test_a_folder_without_a_model_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check_refused(f"{folder} has no model.onnx", "--models", folder)

    def test_unknown_options_and_benches_show_the_usage(self):
        self.check_refused("unrecognized arguments: --fast", "--fast")
        outcome = subprocess.run([ROOT / "scripts/bench.sh", "nothing"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(outcome.returncode, 2)
        self.assertIn("scripts/bench.sh models", outcome.stdout)

    @unittest.skipUnless(bench_models.onnx_peer.shared_dir(), "TENSORD_SHARED_DIR is not set")
    def test_names_are_looked_up_among_models_and_nets(self):
        self.check_refused("no model is called nosuch", "--models", "hello_deepa,nosuch")
        names = bench_models.Catalogue().resolve(["fr_*", "counted", "chain_neg*", "softmax_7x9"])
        self.assertEqual(names[:4], ["fr_detect", "fr_expression", "fr_feature", "fr_pose"])
        self.assertEqual(len(names), 9 + 8 + 2 + 1)
        self.assertEqual(names[-3:], ["chain_neg_1000x1", "chain_neg_1000x64", "softmax_7x9"])


class LastLine(unittest.TestCase):
    def test_the_mean_is_geometric_per_thread_count_and_over_counted_models_only(self):
        rows = [row("a", 1, 2.0, 1.0), row("b", 1, 8.0, 1.0), row("chain", 1, 1.0, 1000.0, False),
                row("a", 2, 3.0, 1.0), row("b", 2, 3.0, 1.0)]
        last = bench_models.last_row(rows, ["a", "b"])
        self.assertTrue(math.isclose(last["geomean_engine_over_peer"]["1"], 4.0))
        self.assertTrue(math.isclose(last["geomean_engine_over_peer"]["2"], 3.0))
        self.assertEqual((last["counted"], last["missing"]), (2, []))
        self.assertEqual(last["worst"], {"model": "b", "threads": 1, "ratio": 8.0})

    def test_a_counted_model_without_a_figure_is_missing(self):
        rows = [row("a", 1, 2.0, 1.0), row("a", 2, 2.0, 1.0), row("b", 1, 2.0, 1.0)]
        self.assertEqual(bench_models.last_row(rows, ["a", "b", "c"])["missing"], ["b", "c"])

    def test_the_bindings_cost_is_taken_off_the_peer(self):
        rows = [row("identity", 1, 0.001, 0.5, False), row("a", 1, 2.0, 1.5)]
        last = bench_models.last_row(rows, ["a"])
        self.assertTrue(math.isclose(last["geomean_engine_over_peer_less_binding"]["1"], 2.0))

    def test_nothing_measured_has_no_mean(self):
        alone = {key: value for key, value in row("a", 1, 2.0, 1.0).items() if "peer" not in key
                 and key != "ratio"}
        last = bench_models.last_row([alone], ["a"])
        self.assertEqual(last["geomean_engine_over_peer"], {"1": None})
        self.assertEqual(last["missing"], ["a"])

    def test_the_median_of_processes_counts(self):
        processes = [{"ms": ms, "p10_ms": ms, "p90_ms": ms, "set_ms": [ms, 2 * ms]}
                     for ms in (9.0, 1.0, 2.0)]
        figures = bench_models.combined("unix", processes)
        self.assertEqual((figures["unix_ms"], figures["unix_set_ms"]), (2.0, [2.0, 4.0]))
        self.assertEqual(figures["unix_process_ms"], [9.0, 1.0, 2.0])


class Tables(unittest.TestCase):
    LINES = [
        {"bench": "machine", "cpu": "Some CPU", "cores": 2, "revision": "abc", "rounds": 3,
         "seconds": 1.5, "peer": "onnxruntime==1.0", "idle": 0.5},
        {**row("a", 1, 0.0123456, 0.1), "unix_ms": 1.0, "tcp_ms": 1.25, "engine_peak_mb": 50.0,
         "daemon_peak_mb": 70.0, "peer_peak_mb": 90.0, "nodes": 7, "computing_nodes": 5,
         "launches": 3, "disturbed": True, "engine_cpu_ms": 1.0, "peer_cpu_ms": 4.0},
        {"bench": "model", "model": "b", "threads": 1, "counted": True, "error": "no | kernel"},
        {"bench": "models", "geomean_engine_over_peer": {"1": 0.1234},
         "geomean_engine_over_peer_less_binding": {"1": 0.2}, "missing": ["b"]},
    ]

    def write(self, document, lines):
        with tempfile.TemporaryDirectory() as folder:
            path, doc = pathlib.Path(folder) / "lines", pathlib.Path(folder) / "doc.md"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            doc.write_text(document, encoding="utf-8")
            outcome = subprocess.run([sys.executable, ROOT / "scripts/performance_doc.py", path,
                                      "--doc", doc], capture_output=True, text=True, check=False)
            return outcome, doc.read_text(encoding="utf-8")

    def test_what_stands_between_the_comments_is_replaced(self):
        outcome, text = self.write(
            f"before\n{performance_doc.BEGIN}\nold\n{performance_doc.END}\nafter\n", self.LINES)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("| a (disturbed) | 0.0123 | 0.100 | 0.123 | 1.00 | 1.25 | 0.250 | 50.0 | 70.0 | 90.0 "
                      "| 7 (5) | 3 |", text)
        self.assertIn("| b | no \\| kernel |", text)
        self.assertIn("Not measured: b.", text)
        self.assertIn("did other work meanwhile** (50 %", text)

    def test_a_quiet_machine_needs_no_warning(self):
        lines = [{**self.LINES[0], "idle": 0.99}, *self.LINES[1:]]
        _, text = self.write(f"{performance_doc.BEGIN}{performance_doc.END}", lines)
        self.assertNotIn("other work", text)

    def test_a_run_that_was_cut_short_is_refused(self):
        outcome, _ = self.write(f"{performance_doc.BEGIN}{performance_doc.END}", self.LINES[:-1])
        self.assertIn("does not end with the line of a whole run", outcome.stderr)

    def test_a_document_without_the_comments_is_refused(self):
        outcome, text = self.write("words", self.LINES)
        self.assertNotEqual(outcome.returncode, 0)
        self.assertEqual(text, "words")

    def test_the_repositorys_own_document_has_the_comments(self):
        text = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
        self.assertIn("new", performance_doc.replaced(text, "new"))


if __name__ == "__main__":
    unittest.main()
