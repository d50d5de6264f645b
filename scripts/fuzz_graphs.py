#!/usr/bin/python3
"""Runs random models of one operator through tensord and through ONNX Runtime, and compares.

    fuzz_graphs.py [--bin build/release/bin] [--seed 1] [--count 500] [--keep FOLDER]

The models are those of fuzz_operators.py: operator, attributes, dtypes, extents and values follow from the seed. What
passes make of graphs of many operators is for tests/engine/passes/random_graphs_test.cc. ONNX Runtime is that of
onnx_peer.py.

A float agrees when |tensord - onnxruntime| <= 1e-4 + 1e-4 * |onnxruntime|, 2e-3 for float16; an integer that was
rounded from a float may differ by 1. What ONNX Runtime refuses is not compared. The last line is "N agree, N differ,
N refused here, N refused there", and the exit status 0 only if none differ. --keep writes the models that differ.
"""

import argparse
import collections
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_nets  # noqa: E402
import onnx_peer  # noqa: E402

OPSET = 20
IR_VERSION = 9
FORGET_EVERY = 500  # models; the daemon holds 1024
ROUNDED = ("QuantizeLinear", "DynamicQuantizeLinear", "QLinearMatMul")


def model_of(onnx, case):
    """(the model, its inputs by name)."""
    names, inputs, values, initializers = [], [], {}, []
    for index, array in enumerate(case.inputs):
        if array is None:
            names.append("")
            continue
        names.append(f"x{index}")
        if index in case.constants:
            initializers.append(onnx.numpy_helper.from_array(array, names[-1]))
            continue
        values[names[-1]] = array
        dtype = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        inputs.append(onnx.helper.make_tensor_value_info(names[-1], dtype, array.shape))
    outputs = [f"y{index}" for index in range(case.outputs)]
    node = onnx.helper.make_node(case.op, names, outputs, **case.attributes)
    infos = [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = onnx.helper.make_graph([node], case.op, inputs, infos, initializers)
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    model = onnx.helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
    # For the types of the outputs; of some extents it is mistaken.
    model = onnx.shape_inference.infer_shapes(model)
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return model, values


def difference(np, op, got, wanted):
    """What is wrong with an output; None for nothing."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind != "f":
        step = 1 if op in ROUNDED else 0
        apart = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
        return None if (apart <= step).all() else f"{got.ravel()[:8]}, not {wanted.ravel()[:8]}"
    near = 2e-3 if wanted.dtype == np.float16 else 1e-4
    if np.allclose(got.astype(np.float64), wanted.astype(np.float64), near, near, equal_nan=True):
        return None
    close = np.isclose(got.astype(np.float64), wanted.astype(np.float64), near, near, equal_nan=True)
    worst = int(np.argmin(close.ravel()))
    return f"element {worst}: {got.ravel()[worst]}, not {wanted.ravel()[worst]}"


def check(np, onnxruntime, folder, daemon, case, model, values):
    """(verdict, detail)."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = compare_nets.outputs_of(session, values)
    except Exception as error:  # pylint: disable=broad-except
        return "refused there", str(error).splitlines()[0][:120]
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    files = {}
    for name, value in values.items():
        files[name] = folder / f"{name}.npy"
        np.save(files[name], np.asarray(value, order="C"))
    done = daemon.run(path, files, folder / "out")
    if done.returncode == compare_nets.REFUSED:
        return "refused here", done.stderr.splitlines()[0][:200]
    if done.returncode != 0:
        return "differ", f"exit code {done.returncode}: {done.stderr.strip()[:200]}"
    for name, wanted in expected.items():
        wrong = difference(np, case.op, np.load(folder / "out" / compare_nets.file_name(name)), np.asarray(wanted))
        if wrong:
            return "differ", f"{name}: {wrong}"
    return "agree", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, default=onnx_peer.ROOT / "build/release/bin",
                        help="folder of tensord and tensordctl")
    parser.add_argument("--seed", type=int, default=1, help="of the first model")
    parser.add_argument("--count", type=int, default=500, help="models")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the models that differ")
    arguments = parser.parse_args()
    onnx_peer.enter_venv()
    import numpy as np  # pylint: disable=import-outside-toplevel
    import onnx  # pylint: disable=import-outside-toplevel
    import onnxruntime  # pylint: disable=import-outside-toplevel
    import fuzz_operators  # pylint: disable=import-outside-toplevel
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as state:
        daemon = compare_nets.Tensord(arguments.bin.resolve(), pathlib.Path(state))
        try:
            for seed in range(arguments.seed, arguments.seed + arguments.count):
                case = fuzz_operators.make_case(seed)
                model, values = model_of(onnx, case)
                with tempfile.TemporaryDirectory() as folder:
                    verdict, detail = check(np, onnxruntime, pathlib.Path(folder), daemon, case, model, values)
                counts[verdict] += 1
                if seed % FORGET_EVERY == 0:
                    daemon.forget_all()
                if verdict == "agree":
                    continue
                shapes = [None if x is None else f"{x.dtype}{list(x.shape)}" for x in case.inputs]
                print(f"{verdict:14} seed {seed} {case.op} {case.attributes} {shapes}: {detail}", flush=True)
                if arguments.keep and verdict == "differ":
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"{seed}.onnx").write_bytes(model.SerializeToString())
        finally:
            daemon.stop()
    print(", ".join(f"{counts[name]} {name}" for name in ("agree", "differ", "refused here", "refused there")))
    sys.exit(1 if counts["differ"] else 0)


if __name__ == "__main__":
    main()
