#!/usr/bin/env python3
"""Writes test_data_set_*/output_0.pb: what onnxruntime answers for each input_0.pb.

    expected.py [DIR]

Needs onnxruntime and onnx. Not run by any build: an expected value that our own code made would
agree with our own mistakes.
"""
import pathlib
import sys

import onnx
import onnxruntime
from onnx import numpy_helper


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"),
                                           providers=["CPUExecutionProvider"])
    for test in sorted(folder.glob("test_data_set_*")):
        image = numpy_helper.to_array(onnx.load_tensor(str(test / "input_0.pb")))
        probabilities, = session.run(["probabilities"], {"image": image})
        tensor = numpy_helper.from_array(probabilities, "probabilities")
        (test / "output_0.pb").write_bytes(tensor.SerializeToString())
        print(test.name, probabilities.shape, "by onnxruntime", onnxruntime.__version__)


if __name__ == "__main__":
    main()
