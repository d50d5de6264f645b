"""What the scripts that run nets beside ONNX Runtime share: the pinned packages, make_nets.py, inputs for its nets.

ONNX Runtime comes from PyPI into build/compare-venv. It is asked for in one place, so that every figure and every
comparison is against the same release.
"""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["onnxruntime==1.32.0", "onnx==1.23.2", "numpy==2.4.6"]
VENV = ROOT / "build/compare-venv"


def make_venv():
    """The venv's Python; the venv is made on the first call."""
    python = VENV / "bin/python"
    stamp = VENV / "packages.txt"
    wanted = "\n".join(PACKAGES)
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        *PACKAGES], check=True)
        stamp.write_text(wanted)
    return python


def enter_venv():
    """Starts the calling program again in the venv."""
    python = make_venv()
    if pathlib.Path(sys.prefix) != VENV:
        os.execv(python, [python, *sys.argv])


def shared_dir():
    """The folder with models/, or None."""
    shared = pathlib.Path(os.environ.get("TENSORD_SHARED_DIR") or ROOT.parent / "shared")
    return shared if (shared / "models").is_dir() else None


def make_nets_path():
    shared = shared_dir()
    if shared is None:
        sys.exit(f"no folder {ROOT.parent}/shared with models; set TENSORD_SHARED_DIR")
    return shared / "models/make_nets.py"


def load_make_nets():
    spec = importlib.util.spec_from_file_location("make_nets", make_nets_path())
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def available_megabytes():
    text = pathlib.Path("/proc/meminfo").read_text(encoding="ascii")
    return int(re.search(r"MemAvailable: *(\d+)", text).group(1)) >> 10


def megabytes_of(name, make_nets):
    """Of a net's file."""
    if name in make_nets.NETS:
        return make_nets.NETS[name][0]
    extents = [int(size) for size in name.rpartition("_")[2].split("x")]
    return 8 * max(a * b for a in extents for b in extents) >> 20


def random_input(numpy, random, name, dtype, shape):
    """A value that a net of make_nets.py takes for this input, of the order of 1. `random` is a numpy generator."""
    if name == "position_ids":
        return numpy.broadcast_to(numpy.arange(shape[1]), shape).astype(numpy.int64)
    if name == "attention_mask":
        return (random.random(shape) < 0.8).astype(numpy.int64)
    if name == "mask":
        return numpy.where(random.random(shape) < 0.8, 0, -10000).astype(numpy.float32)
    if numpy.dtype(dtype).kind in "iu":
        highest = 256 if dtype == numpy.uint8 else 1000
        return random.integers(0, highest, shape).astype(dtype)
    # What is added a thousand times must stay small.
    low, high = (-0.9, 0.9) if name == "c" else (-1.7, 1.7)
    return random.uniform(low, high, shape).astype(dtype)
