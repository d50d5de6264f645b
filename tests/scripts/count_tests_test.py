"""scripts/count_tests.py: no failure is lost between a program's report and ctest's."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))

import count_tests  # noqa: E402

FAILURE = '<failure message="no"/>'


def case(result="completed", body=""):
    return f'<testcase name="A" status="run" result="{result}">{body}</testcase>'


class CountTests(unittest.TestCase):
    def count(self, statuses, reports):
        """Of a run where ctest gave each program a status, and some wrote a report."""
        with tempfile.TemporaryDirectory() as folder:
            tests = "".join(f'<testcase name="{name}" status="{status}"/>'
                            for name, status in statuses.items())
            files = {name: f"<testsuites><testsuite>{body}</testsuite></testsuites>"
                     for name, body in reports.items()}
            files["ctest"] = None
            for name, text in files.items():
                path = os.path.join(folder, "ctest.junit" if text is None else name + ".xml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text or f"<testsuite>{tests}</testsuite>")
            return count_tests.count(folder)

    def test_a_program_counts_by_its_cases(self):
        self.assertEqual(self.count({"a": "run"}, {"a": case() * 3}), [3, 0, 0])
        self.assertEqual(
            self.count({"a": "fail"}, {"a": case() * 3 + case(body=FAILURE)}), [3, 1, 0])

    def test_a_skipped_case_did_not_pass(self):
        self.assertEqual(self.count({"a": "run"}, {"a": case() + case("skipped")}), [1, 0, 1])

    def test_a_script_counts_as_one(self):
        self.assertEqual(self.count({"a": "run", "b": "fail"}, {}), [1, 1, 0])

    def test_a_crash_before_the_report_is_a_failure(self):
        self.assertEqual(self.count({"a": "fail"}, {}), [0, 1, 0])

    def test_a_sanitizer_at_the_end_is_a_failure(self):
        self.assertEqual(self.count({"a": "fail"}, {"a": case() * 2}), [2, 1, 0])

    def test_a_program_that_was_not_built_is_a_failure(self):
        self.assertEqual(self.count({"a": "notrun"}, {}), [0, 1, 0])


if __name__ == "__main__":
    unittest.main()
