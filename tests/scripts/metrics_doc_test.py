"""docs/metrics.md says what server/metrics/metric_names.h says, and the check that finds this out can fail."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TENSORD_SOURCE_DIR") or
                    pathlib.Path(__file__).resolve().parent.parent.parent)
BIN = pathlib.Path(os.environ.get("TENSORD_BIN_DIR") or ROOT / "build/debug/bin")
DOC = ROOT / "docs/metrics.md"


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "scripts/metrics_doc.py", "--bin", BIN, *arguments],
                          capture_output=True, text=True, check=False)


class MetricsDoc(unittest.TestCase):
    def test_the_file_is_up_to_date(self):
        outcome = run("--check")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)


class StaleFiles(unittest.TestCase):
    def check_changed(self, old, new):
        """What --check says of the file with one text replaced."""
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder) / "metrics.md"
            text = DOC.read_text(encoding="utf-8")
            self.assertEqual(text.count(old), 1, old)
            changed.write_text(text.replace(old, new), encoding="utf-8")
            outcome = run("--check", "--doc", changed)
        self.assertEqual(outcome.returncode, 1, outcome.stdout)
        return outcome.stdout

    def test_a_metric_that_is_not_in_the_file(self):
        self.assertIn("tensord_sessions: is missing",
                      self.check_changed("## tensord_sessions\n", "### tensord_sessions\n"))

    def test_a_metric_that_is_in_the_file_only(self):
        self.assertIn("tensord_nothing: is no metric",
                      self.check_changed("## tensord_sessions\n", "## tensord_nothing\n\n## tensord_sessions\n"))

    def test_help_that_is_not_the_metrics_own(self):
        self.assertIn("tensord_sessions: is out of date",
                      self.check_changed("Sessions that are open,", "Sessions that are closed,"))

    def test_a_query_that_is_another(self):
        self.assertIn("tensord_op_errors_total: is out of date",
                      self.check_changed("(increase(tensord_op_errors_total[1h]))", "(tensord_op_errors_total)"))

    def test_a_row_of_the_table(self):
        self.assertIn("the head: is out of date",
                      self.check_changed("| [tensord_sessions](#tensord_sessions) | gauge |",
                                         "| [tensord_sessions](#tensord_sessions) | counter |"))


if __name__ == "__main__":
    unittest.main()
