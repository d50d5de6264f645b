"""Real models, through the daemon: their outputs are those of ONNX Runtime.

The models and their data sets are in models/real of TENSORD_SHARED_DIR. real_models.tsv beside this file has a line
for each: its absolute tolerance (the relative one is 1e-3 for all), and the operators that it still waits for. A
model that waits may be refused; a wrong answer is a failure always.
"""

import collections
import csv
import glob
import os
import shutil
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../e2e"))
import programs  # noqa: E402

RTOL = "1e-3"
REFUSED, DIFFERS = 2, 5  # exit codes of tensordctl

Model = collections.namedtuple("Model", "name atol awaits")


def read_table():
    with open(os.path.join(HERE, "real_models.tsv"), encoding="utf-8") as file:
        return [Model(row["model"], row["atol"], row["awaits"] or "")
                for row in csv.DictReader(file, delimiter="\t")]


def folder_of(name):
    return os.path.join(programs.SHARED, "models/real", name)


def sets_of(folder):
    return sorted(glob.glob(os.path.join(folder, "test_data_set_*")))


def run(daemon, folder, sets, atol):
    return daemon.ctl("run", os.path.join(folder, "model.onnx"), "--rtol", RTOL, "--atol", atol,
                      "--timeout", "300", "--expect", *sets)


@unittest.skipUnless(programs.SHARED, "TENSORD_SHARED_DIR is not set")
class RealModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = programs.Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def test_every_model_is_in_the_table(self):
        there = {os.path.basename(os.path.dirname(path))
                 for path in glob.glob(os.path.join(folder_of("*"), "model.onnx"))}
        self.assertEqual(there, {model.name for model in read_table()})

    def test_outputs_are_as_expected(self):
        for model in read_table():
            with self.subTest(model.name):
                folder = folder_of(model.name)
                sets = sets_of(folder)
                self.assertGreaterEqual(len(sets), 2)
                outcome = run(self.daemon, folder, sets, model.atol)
                if model.awaits and outcome.code == REFUSED:
                    print(f"{model.name} waits for {model.awaits}: {outcome.err.splitlines()[0]}")
                    continue
                self.assertEqual(outcome.code, 0, outcome)
                outputs = sum(len(glob.glob(os.path.join(path, "output_*.pb"))) for path in sets)
                self.assertEqual(outcome.out.count("as expected"), outputs, outcome.out)

    def passes(self):
        """The compile passes that a submission may leave out, which a wrong name is answered with."""
        outcome = self.daemon.ctl("submit", os.path.join(folder_of("hello_deepa"), "model.onnx"),
                                  "--disable-pass", "no_such_pass")
        names = outcome.err.partition("there are ")[2].split()
        self.assertIn("fold_constants,", names, outcome.err)
        return [name.rstrip(",") for name in names if name.rstrip(",").replace("_", "").isalpha()]

    def test_no_pass_changes_an_answer(self):
        """With all passes left out, and with each one alone."""
        passes = self.passes()
        for left_out in [passes] + [[name] for name in passes]:
            options = [option for name in left_out for option in ("--disable-pass", name)]
            for model in read_table():
                if model.awaits:
                    continue
                with self.subTest(model.name, left_out=left_out):
                    folder = folder_of(model.name)
                    graph = self.daemon.ctl("submit", os.path.join(folder, "model.onnx"), "--quiet",
                                            *options)
                    self.assertEqual(graph.code, 0, graph)
                    outcome = self.daemon.ctl(
                        "run", graph.out.strip(), "--rtol", RTOL, "--atol", model.atol,
                        "--timeout", "300", "--expect", *sets_of(folder))
                    self.assertEqual(outcome.code, 0, outcome)

    def test_a_change_just_outside_the_tolerance_is_seen(self):
        """In each output of each model that need not wait."""
        for model in read_table():
            if model.awaits:
                continue
            set_0 = sets_of(folder_of(model.name))[0]
            for path in glob.glob(os.path.join(set_0, "output_*.pb")):
                name = os.path.basename(path)
                with self.subTest(model.name, output=name), tempfile.TemporaryDirectory() as parent:
                    changed = os.path.join(parent, "set")
                    shutil.copytree(set_0, changed)
                    values = numpy_helper.to_array(onnx.load_tensor(path)).copy()
                    place = numpy.argmin(numpy.abs(values))
                    values.flat[place] += 2 * (float(model.atol) +
                                               float(RTOL) * abs(values.flat[place]))
                    onnx.save_tensor(numpy_helper.from_array(values), os.path.join(changed, name))
                    outcome = run(self.daemon, folder_of(model.name), [changed], model.atol)
                    self.assertEqual(outcome.code, DIFFERS, outcome)


if __name__ == "__main__":
    unittest.main()
