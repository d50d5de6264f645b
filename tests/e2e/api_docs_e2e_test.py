"""The examples of docs/api.md do what they say."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402,F401  pylint: disable=unused-import
import programs  # noqa: E402


class ApiDocsTest(unittest.TestCase):

    def test_the_examples_run_in_their_order(self):
        with open(programs.source("docs/api.md"), encoding="utf-8") as file:
            text = file.read()
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        self.assertGreater(len(blocks), 8)
        with programs.Daemon() as daemon:
            names = {"address": daemon.address}
            for block in blocks:
                line = text[:text.index(block)].count("\n")
                # Lines of a traceback are those of the page.
                exec(compile("\n" * line + block, "docs/api.md", "exec"), names)  # pylint: disable=exec-used
            names["channel"].close()


if __name__ == "__main__":
    unittest.main()
