"""The cases of ONNX's own test suite, through the daemon: tensord_conformance on what this machine has of them.

With TENSORD_SHARED_DIR these are some 3000, of all releases of ONNX; without it, the 1000 of Debian's package
libonnx-testdata. An operator that is missing is refused, which is no failure here; a wrong answer, a crash, a hang or
an internal error is. So that nothing gets lost, a number of cases must pass: raise it as operators are added.
"""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import programs  # noqa: E402

DEBIAN_CASES = "/usr/share/libonnx-testdata/data"

# How many cases must pass.
FLOOR_SHARED = 2909
FLOOR_DEBIAN = 1005

# Cases whose data is not what the standard says, and why.
CONTRADICTED_SHARED = {
    "node-older/test_cast_FLOAT16_to_FLOAT4E2M1__1.18.0":
        "NaN, which float4e2m1 has not, becomes 6; in the case from release 1.19.1 on it becomes -0",
}
CONTRADICTED_DEBIAN = {
    "node/test_cast_FLOAT_to_BFLOAT16": "the expected bfloat16 is stored as uint16",
    "node/test_adam_multiple":
        "computed with an epsilon of 0.01 that the node does not have; later releases have it",
}

# Of one case. A loaded machine and a sanitizer's build are slow; a hang never ends.
TIMEOUT_S = 60

TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def run(*arguments):
    """The exit code, all lines of the output, and the three totals of the last one."""
    done = subprocess.run(
        [os.path.join(programs.BIN, "tensord_conformance"), "--timeout", str(TIMEOUT_S), "--show",
         "wrong", "--show", "crash", "--show", "hang", "--show", "error", "--show", "skipped",
         *arguments],
        stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    totals = TOTALS.match(lines[-1]) if lines else None
    return done.returncode, lines, [int(total) for total in totals.groups()] if totals else None


class Conformance(unittest.TestCase):
    def check(self, cases, floor, contradicted):
        code, lines, totals = run("--cases", cases, "--allow", "refused", "--allow", "wrong",
                                  "--at-least", str(floor))
        print("\n".join(lines))
        wrong = {line.split()[1] for line in lines if line.startswith("wrong ")}
        self.assertEqual(wrong - set(contradicted), set())
        self.assertEqual(code, 0)
        self.assertIsNotNone(totals)

    @unittest.skipUnless(programs.SHARED, "TENSORD_SHARED_DIR is not set")
    def test_the_list_of_cases(self):
        self.check(os.path.join(programs.SHARED, "conformance/onnx"), FLOOR_SHARED,
                   CONTRADICTED_SHARED)

    @unittest.skipIf(programs.SHARED, "the list of TENSORD_SHARED_DIR has these cases")
    @unittest.skipUnless(os.path.isdir(DEBIAN_CASES), "libonnx-testdata is not installed")
    def test_the_cases_of_the_debian_package(self):
        self.check(DEBIAN_CASES, FLOOR_DEBIAN, CONTRADICTED_DEBIAN)

    def test_too_few_that_pass_are_a_failure(self):
        cases = (os.path.join(programs.SHARED, "conformance/onnx")
                 if programs.SHARED else DEBIAN_CASES)
        arguments = ("--cases", cases, "--filter", "node/test_relu", "--at-least")
        self.assertEqual(run(*arguments, "1")[0::2], (0, [1, 0, 0]))
        self.assertEqual(run(*arguments, "2")[0::2], (1, [1, 0, 0]))


if __name__ == "__main__":
    unittest.main()
