#!/usr/bin/python3
"""Runs the nets of make_nets.py on random inputs through tensord and through ONNX Runtime, and compares.

    compare_nets.py [--bin build/release/bin] [NAME ...]

A NAME is a net or a pattern ('matmul_*'); without one, all listed nets. make_nets.py is that of models/ in
TENSORD_SHARED_DIR, else in ../shared. ONNX Runtime is that of onnx_peer.py.

An element agrees when |tensord - onnxruntime| <= 1e-3 + 1e-3 * |onnxruntime|; the nets keep their activations of the
order of 1. Nets with 8 bits or 16 may differ by more, since two right answers do: for these, the largest difference
between ONNX Runtime with and without graph optimisation is allowed on top, twice. The table says how large both are.

The last line is "N agree, N differ, N refused", and the exit status 0 only if none differ. A net for which the machine
has too little memory is left out, and named.
"""

import argparse
import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnx_peer  # noqa: E402

ROOT = onnx_peer.ROOT

TOLERANCE = 1e-3
# Nets whose arithmetic is not float32 throughout.
COARSE = re.compile("int8|qdq|f16")
# Extents for the nets' symbols, and for what has no name.
SYMBOLS = {"batch": 2, "sequence": 16, "time": 6, "past": 7, "total": 7 + 16}
# Of the types that ONNX Runtime names.
DTYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(int64)": "int64",
          "tensor(uint8)": "uint8"}
REFUSED = 2  # exit code of tensordctl

# Memory in use at once, in sizes of the net: its file, what two runtimes keep of it, packed again in each.
COPIES = 8


def input_for(numpy, random, info):
    shape = [dim if isinstance(dim, int) else SYMBOLS[dim] for dim in info.shape]
    return onnx_peer.random_input(numpy, random, info.name, DTYPES[info.type], shape)


def open_peer(path, is_optimised=True):
    import onnxruntime  # pylint: disable=import-outside-toplevel
    options = onnxruntime.SessionOptions()
    if not is_optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def outputs_of(session, inputs):
    """By their names."""
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs)))


class Tensord:
    """A daemon that is started for this, and tensordctl."""

    def __init__(self, folder, state):
        self._ctl = folder / "tensordctl"
        port_file = state / "ports.json"
        self._process = subprocess.Popen(
            [folder / "tensord", "--listen", f"unix:{state}/socket", "--metrics-listen", "off",
             "--port-file", port_file, "--log-level", "error", "--max-message-bytes", "1GiB"])
        self._address = f"unix:{state}/socket"
        while not port_file.exists():
            if self._process.poll() is not None:
                sys.exit(f"compare_nets: the daemon ended with {self._process.returncode}")
            time.sleep(0.05)

    def run(self, path, inputs, out):
        return subprocess.run(
            [self._ctl, "run", path, "--address", self._address, "--timeout", "600",
             "--output-dir", out, *(f"--input={name}={file}" for name, file in inputs.items())],
            capture_output=True, text=True, check=False)

    def forget_all(self):
        listed = subprocess.run([self._ctl, "graphs", "--address", self._address, "--json"],
                                capture_output=True, text=True, check=True)
        for graph_id in re.findall(r'"graph_id": ?"([0-9a-f]{64})"', listed.stdout):
            subprocess.run([self._ctl, "graphs", "delete", graph_id, "--address", self._address],
                           capture_output=True, check=True)

    def stop(self):
        self._process.terminate()
        self._process.wait()


def file_name(value):
    """As tensordctl names the file of an output."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", value) + ".npy"


def compare(name, path, folder, daemon):
    """(verdict, detail): how tensord's outputs of one net compare."""
    import numpy  # pylint: disable=import-outside-toplevel
    session = open_peer(path)
    random = numpy.random.default_rng(1)
    inputs = {info.name: input_for(numpy, random, info) for info in session.get_inputs()}
    files = {}
    for index, (key, value) in enumerate(inputs.items()):
        files[key] = folder / f"input_{index}.npy"
        numpy.save(files[key], numpy.asarray(value, order="C"))
    expected = outputs_of(session, inputs)
    del session
    slack = 0.0
    if COARSE.search(name):
        other = outputs_of(open_peer(path, is_optimised=False), inputs)
        slack = max(float(numpy.abs(expected[key].astype(numpy.float64) - other[key]).max())
                    for key in expected)
    done = daemon.run(path, files, folder / "out")
    if done.returncode == REFUSED:
        return "refused", done.stderr.splitlines()[0]
    if done.returncode != 0:
        return "differs", f"exit code {done.returncode}: {done.stderr.strip()}"
    largest, agrees = 0.0, True
    for key, wanted in expected.items():
        got = numpy.load(folder / "out" / file_name(key))
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return "differs", f"{key} is {got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}"
        wanted = wanted.astype(numpy.float64)
        difference = numpy.abs(got.astype(numpy.float64) - wanted)
        allowed = TOLERANCE + TOLERANCE * numpy.abs(wanted) + 2 * slack
        # A NaN compares with nothing, and so is not allowed.
        agrees = agrees and bool((difference <= allowed).all())
        largest = max(largest, float(difference.max()))
    detail = f"max |difference| {largest:.2g}"
    if COARSE.search(name):
        detail += f", of the peer with and without optimisation {slack:.2g}"
    return ("agrees" if agrees else "differs"), detail


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="folder of tensord and tensordctl")
    parser.add_argument("names", nargs="*", metavar="NAME", help="net or pattern; default: all")
    arguments = parser.parse_args()
    onnx_peer.enter_venv()
    make_nets = onnx_peer.load_make_nets()
    names = [name for pattern in arguments.names or ["*"]
             for name in fnmatch.filter(make_nets.LISTED, pattern) or [pattern]]
    counts = {"agrees": 0, "differs": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as state:
        daemon = Tensord(arguments.bin.resolve(), pathlib.Path(state))
        try:
            for name in names:
                size = onnx_peer.megabytes_of(name, make_nets)
                if onnx_peer.available_megabytes() < COPIES * size:
                    print(f"{'left out':10}{name:30}it needs some {COPIES * size} MB of memory",
                          flush=True)
                    continue
                net = make_nets.build(name) or parser.error(f"no net is called {name}")
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, f"{name}.onnx")
                    pathlib.Path(path).write_bytes(net.serialize())
                    del net
                    verdict, detail = compare(name, path, pathlib.Path(folder), daemon)
                daemon.forget_all()
                counts[verdict] += 1
                print(f"{verdict:10}{name:30}{detail}", flush=True)
        finally:
            daemon.stop()
    print(f"{counts['agrees']} agree, {counts['differs']} differ, {counts['refused']} refused")
    sys.exit(1 if counts["differs"] else 0)


if __name__ == "__main__":
    main()
