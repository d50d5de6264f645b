#!/usr/bin/python3
"""Counts the tests of one ctest run: prints "PASSED FAILED SKIPPED".

    count_tests.py DIR

DIR holds ctest's own report (ctest.junit) and one GoogleTest report for each program that wrote
one (NAME.xml). A program counts by its test cases, anything else as one test. A program that
ctest calls failed although its report shows no failure (it crashed, or a sanitizer spoke at its
end) counts one failure more.
"""

import os
import sys
import xml.etree.ElementTree as ElementTree


def count_program(path):
    """[passed, failed, skipped] of a GoogleTest report, or None when there is none to read."""
    try:
        report = ElementTree.parse(path).getroot()
    except (FileNotFoundError, ElementTree.ParseError):
        return None
    cases = [case for case in report.iter("testcase") if case.get("status") == "run"]
    failed = sum(1 for case in cases if case.find("failure") is not None)
    skipped = sum(1 for case in cases if case.get("result") == "skipped")
    return [len(cases) - failed - skipped, failed, skipped]


def count(folder):
    totals = [0, 0, 0]
    ctest = ElementTree.parse(os.path.join(folder, "ctest.junit")).getroot()
    for test in ctest.iter("testcase"):
        if test.get("status") == "disabled":
            continue
        is_passed = test.get("status") == "run"
        counts = count_program(os.path.join(folder, test.get("name") + ".xml"))
        if counts is None:
            counts = [1, 0, 0] if is_passed else [0, 1, 0]
        elif not is_passed and counts[1] == 0:
            counts[1] = 1
        totals = [total + more for total, more in zip(totals, counts)]
    return totals


if __name__ == "__main__":
    print(*count(sys.argv[1]))
