#!/usr/bin/env python3
"""Checks that the files of this folder agree with each other.

    verify.py [DIR]

Evaluates the graph with numpy alone, in float64 and from the ONNX definitions rather than from
train.py, and with onnxruntime too where that is installed. Exits 1 and says what is wrong, if
anything is. Needs numpy and onnx.
"""
import hashlib
import json
import pathlib
import re
import sys

import numpy as np
import onnx
from onnx import numpy_helper

ALLOWED_OPS = {
    "Conv", "BatchNormalization", "Relu", "MaxPool", "AveragePool", "GlobalAveragePool", "Flatten",
    "Gemm", "MatMul", "Add", "Softmax", "Reshape", "Concat", "Pad"}
OPSET, IR_VERSIONS = 13, (7, 8)
LIMIT_BYTES = 1_000_000  # the whole folder
TOLERANCE = 1e-4  # absolute, on probabilities


def conv(x, weight, bias, kernel_shape, pads):
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    height, width = (x.shape[2 + i] - kernel_shape[i] + 1 for i in (0, 1))
    y = np.zeros((len(x), len(weight), height, width)) + bias[:, None, None]
    for row in range(kernel_shape[0]):
        for column in range(kernel_shape[1]):
            shifted = x[:, :, row:row + height, column:column + width]
            y += np.einsum("nchw,oc->nohw", shifted, weight[:, :, row, column])
    return y


def batch_normalization(x, *per_channel, epsilon):
    gain, shift, mean, variance = (v[:, None, None] for v in per_channel)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + shift


def max_pool(x, kernel_shape, strides):
    if kernel_shape != strides or any(x.shape[2 + i] % strides[i] for i in (0, 1)):
        raise ValueError("only windows that tile the plane")
    rows, columns = strides
    return np.max([x[:, :, r::rows, c::columns] for r in range(rows) for c in range(columns)],
                  axis=0)


def gemm(x, weight, bias, transB):
    return x @ (weight.T if transB else weight) + bias


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# The ops that this model uses. An attribute that a function does not take is a TypeError: nothing
# is ignored in silence.
FUNCTIONS = {
    "Conv": conv, "BatchNormalization": batch_normalization, "MaxPool": max_pool, "Gemm": gemm,
    "Relu": lambda x: np.maximum(x, 0), "Flatten": lambda x: x.reshape(len(x), -1),
    "Softmax": softmax}


def evaluate(model, image):
    values = {w.name: numpy_helper.to_array(w).astype(np.float64) for w in model.graph.initializer}
    values["image"] = image.astype(np.float64)
    for node in model.graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        function = FUNCTIONS[node.op_type]
        values[node.output[0]] = function(*(values[name] for name in node.input), **attributes)
    return values["probabilities"]


def evaluate_onnxruntime(model, image):
    import onnxruntime
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return session.run(["probabilities"], {"image": image})[0]


def load_batches(folder):
    """{name: (image, expected probabilities, true digits)} of the test data sets."""
    truth = json.loads((folder / "labels.json").read_text())
    batches = {}
    for test in sorted(folder.glob("test_data_set_*")):
        image, expected = (onnx.load_tensor(str(test / f)) for f in ("input_0.pb", "output_0.pb"))
        if (image.name, expected.name) != ("image", "probabilities"):
            raise ValueError(f"{test.name}: tensors are named {image.name!r}, {expected.name!r}")
        batches[test.name] = (numpy_helper.to_array(image), numpy_helper.to_array(expected),
                              truth[test.name])
    return batches


def output_faults(model, batches, run=evaluate):
    """Where the model's answers are not the expected ones; empty when all is well."""
    faults = []
    for name, (image, expected, _) in batches.items():
        error = np.abs(run(model, image) - expected).max()
        if not error <= TOLERANCE:  # NaN is a fault too
            faults.append(f"{name}: off by {error:.2g}, at most {TOLERANCE:g} is allowed")
    return faults


def label_faults(batches):
    faults = []
    for name, (image, expected, digits) in batches.items():
        right = int((expected.argmax(axis=1) == digits).sum())
        if not len(image) == len(digits) == len(expected) or right < 0.8 * len(digits):
            faults.append(f"{name}: {right} of {len(digits)} labels are the likeliest digit")
    return faults


def form_faults(model):
    graph, faults = model.graph, []
    opsets = [(o.domain, o.version) for o in model.opset_import]
    if opsets != [("", OPSET)] or model.ir_version not in IR_VERSIONS:
        faults.append(f"opset {opsets}, IR {model.ir_version}")
    strange = {n.op_type for n in graph.node} - ALLOWED_OPS
    if strange:
        faults.append(f"ops {sorted(strange)} are not in the agreed set")
    signature = [(v.name, v.type.tensor_type.elem_type,
                  [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim])
                 for v in [*graph.input, *graph.output]]
    if signature != [("image", 1, ["N", 1, 8, 8]), ("probabilities", 1, ["N", 10])]:
        faults.append(f"inputs and outputs are {signature}")
    return faults


def committed_files(folder):
    return sorted(f for f in folder.rglob("*") if f.is_file() and "__pycache__" not in f.parts)


def readme_faults(folder):
    """README.md lists each data file as `| name | bytes |` and gives the model's SHA-256."""
    text, faults = (folder / "README.md").read_text(), []
    if hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest() not in text:
        faults.append("README.md does not give the SHA-256 of model.onnx")
    listed = {name: int(size.replace(",", ""))
              for name, size in re.findall(r"^\| `([^`]+)` \| ([\d,]+) \|", text, re.M)}
    sizes = {str(f.relative_to(folder)): f.stat().st_size for f in committed_files(folder)
             if f.suffix not in (".py", ".md")}
    if listed != sizes:
        faults.append(f"README.md lists {listed}, the files are {sizes}")
    return faults


def size_faults(folder):
    total = sum(f.stat().st_size for f in committed_files(folder))
    return [] if total < LIMIT_BYTES else [f"{total} bytes, the limit is {LIMIT_BYTES}"]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    model, batches = onnx.load(str(folder / "model.onnx")), load_batches(folder)
    onnx.checker.check_model(model, full_check=True)
    faults = [*form_faults(model), *label_faults(batches), *output_faults(model, batches),
              *readme_faults(folder), *size_faults(folder)]
    evaluators = "numpy"
    try:
        faults += output_faults(model, batches, evaluate_onnxruntime)
        evaluators += " and onnxruntime"
    except ImportError:
        pass
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(faults)} faults; outputs compared with {evaluators}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
