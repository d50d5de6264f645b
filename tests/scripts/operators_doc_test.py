"""docs/operators.md says what the kernel tables say, and the check that finds this out can fail."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("TENSORD_SOURCE_DIR") or
                    pathlib.Path(__file__).resolve().parent.parent.parent)
BIN = pathlib.Path(os.environ.get("TENSORD_BIN_DIR") or ROOT / "build/debug/bin")
DOC = ROOT / "docs/operators.md"


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "scripts/operators_doc.py", "--bin", BIN, *arguments],
                          capture_output=True, text=True, check=False)


class OperatorsDoc(unittest.TestCase):
    def test_the_file_is_up_to_date(self):
        outcome = run("--check")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)


class StaleFiles(unittest.TestCase):
    def check_changed(self, old, new):
        """What --check says of the file with one text replaced."""
        with tempfile.TemporaryDirectory() as folder:
            changed = pathlib.Path(folder) / "operators.md"
            text = DOC.read_text(encoding="utf-8")
            self.assertEqual(text.count(old), 1, old)
            changed.write_text(text.replace(old, new), encoding="utf-8")
            outcome = run("--check", "--doc", changed)
        self.assertEqual(outcome.returncode, 1, outcome.stdout)
        return outcome.stdout

    def test_an_operator_that_is_not_in_the_file(self):
        line = next(line for line in DOC.read_text(encoding="utf-8").splitlines(keepends=True)
                    if line.startswith("| Relu |"))
        self.assertIn("Relu: the file says nothing", self.check_changed(line, ""))

    def test_an_operator_that_is_in_the_file_only(self):
        self.assertIn("NoSuchOp: the file says cpu: float32; it is none yet",
                      self.check_changed("| Relu |", "| NoSuchOp | cpu: float32 | | |\n| Relu |"))

    def test_a_dtype_that_is_not_there(self):
        self.assertIn("Softmax: the file says cpu: int4, ",
                      self.check_changed("| Softmax | cpu: ", "| Softmax | cpu: int4, "))

    def test_a_view_that_is_told_as_another(self):
        self.assertIn("Flatten: the file says flow; it is view",
                      self.check_changed("| Flatten | view |", "| Flatten | flow |"))

    def test_writing_anew_keeps_what_a_report_said(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "operators.md"
            copy.write_text(DOC.read_text(encoding="utf-8"), encoding="utf-8")
            self.assertEqual(run("--doc", copy).returncode, 0)
            self.assertEqual(copy.read_text(encoding="utf-8"), DOC.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
