#!/usr/bin/env python3
"""The committed digit classifier is whole: its files agree, and what reads them can tell."""
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import numpy_helper

sys.dont_write_bytecode = True  # the source tree stays as it is
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "models" / "digits"
spec = importlib.util.spec_from_file_location("verify", FOLDER / "verify.py")
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)


class DigitsModel(unittest.TestCase):
    def setUp(self):
        self.model = onnx.load(str(FOLDER / "model.onnx"))
        self.batches = verify.load_batches(FOLDER)

    def test_folder_is_under_a_megabyte(self):
        self.assertEqual(verify.size_faults(FOLDER), [])

    def test_readme_gives_the_hash_and_sizes_of_the_files(self):
        self.assertEqual(verify.readme_faults(FOLDER), [])

    def test_model_is_valid_with_symbolic_batch_and_agreed_ops(self):
        onnx.checker.check_model(self.model, full_check=True)
        self.assertEqual(verify.form_faults(self.model), [])

    def test_batches_are_one_and_five_images(self):
        shapes = {name: (i.shape, o.shape) for name, (i, o, _) in self.batches.items()}
        self.assertEqual(shapes, {"test_data_set_0": ((1, 1, 8, 8), (1, 10)),
                                  "test_data_set_1": ((5, 1, 8, 8), (5, 10))})

    def test_likeliest_digit_is_the_true_one_for_four_of_five(self):
        self.assertEqual(verify.label_faults(self.batches), [])

    def test_sample_is_read_as_its_label(self):
        sample = np.load(FOLDER / "sample.npy")
        self.assertEqual((sample.shape, sample.dtype), ((1, 1, 8, 8), np.float32))
        digit = json.loads((FOLDER / "labels.json").read_text())["sample.npy"]
        self.assertEqual(verify.evaluate(self.model, sample).argmax(axis=1).tolist(), digit)

    def test_numpy_evaluation_gives_the_expected_outputs(self):
        self.assertEqual(verify.output_faults(self.model, self.batches), [])


class DigitsModelControls(unittest.TestCase):
    """Each check fails when what it checks is broken."""
    def setUp(self):
        self.model = onnx.load(str(FOLDER / "model.onnx"))
        self.batches = verify.load_batches(FOLDER)
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.copy = pathlib.Path(temporary.name) / "digits"
        shutil.copytree(FOLDER, self.copy)

    def test_ten_percent_on_any_weight_tensor_is_caught(self):
        for position, weights in enumerate(self.model.graph.initializer):
            with self.subTest(weights.name):
                changed = onnx.ModelProto.FromString(self.model.SerializeToString())
                array = numpy_helper.to_array(weights) * np.float32(1.1)
                changed.graph.initializer[position].CopyFrom(
                    numpy_helper.from_array(array, weights.name))
                self.assertNotEqual(verify.output_faults(changed, self.batches), [])

    def test_one_changed_weight_is_caught(self):
        weights = self.model.graph.initializer[0]
        array = numpy_helper.to_array(weights).copy()
        array.reshape(-1)[4] += 0.05
        weights.CopyFrom(numpy_helper.from_array(array, weights.name))
        self.assertNotEqual(verify.output_faults(self.model, self.batches), [])

    def test_nan_output_is_caught(self):
        self.assertNotEqual(
            verify.output_faults(self.model, self.batches, lambda _, x: np.full(1, np.nan)), [])

    def test_wrong_labels_are_caught(self):
        wrong = {n: (i, o, [(d + 1) % 10 for d in t]) for n, (i, o, t) in self.batches.items()}
        self.assertEqual(len(verify.label_faults(wrong)), 2)

    def test_fixed_batch_strange_op_and_other_opset_are_caught(self):
        self.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
        self.model.graph.node[2].op_type = "Celu"
        self.model.opset_import[0].version = 12
        self.assertEqual(len(verify.form_faults(self.model)), 3)

    def test_changed_model_file_no_longer_matches_the_readme(self):
        data = bytearray((self.copy / "model.onnx").read_bytes())
        data[len(data) // 2] ^= 1
        (self.copy / "model.onnx").write_bytes(data)
        self.assertEqual(len(verify.readme_faults(self.copy)), 1)

    def test_unlisted_or_large_file_is_caught(self):
        (self.copy / "extra.bin").write_bytes(bytes(verify.LIMIT_BYTES))
        self.assertEqual(len(verify.readme_faults(self.copy)), 1)
        self.assertEqual(len(verify.size_faults(self.copy)), 1)


if __name__ == "__main__":
    unittest.main()
