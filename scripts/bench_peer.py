"""How long one model takes in ONNX Runtime: the other half of engine_bench, with the same options and the same JSON.

    bench_peer.py --model M.onnx --data SET [--data SET ...] [--threads N] [--seconds S] [--profile N]

Runs in the venv of onnx_peer.py. Inputs and outputs are bound once (IOBinding), so that a run copies nothing; what
the call through Python costs is seen with a model of one Identity. --profile tells the time by operator, from ONNX
Runtime's own profiler.
"""

import argparse
import collections
import gc
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import time

import onnx
import onnxruntime
from onnx import numpy_helper


def read_sets(folders):
    """Of each folder the inputs by name."""
    sets = []
    for folder in folders:
        paths = sorted(pathlib.Path(folder).glob("input_*.pb"))
        if not paths:
            sys.exit(f"bench_peer: no inputs in {folder}")
        tensors = [onnx.TensorProto.FromString(path.read_bytes()) for path in paths]
        sets.append({tensor.name: numpy_helper.to_array(tensor) for tensor in tensors})
    return sets


def open_session(path, threads, profile_prefix=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    if profile_prefix:
        options.enable_profiling = True
        options.profile_file_prefix = profile_prefix
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def bind(session, inputs):
    """A binding whose inputs and outputs stay where they are."""
    binding = session.io_binding()
    for info in session.get_inputs():
        binding.bind_ortvalue_input(info.name,
                                    onnxruntime.OrtValue.ortvalue_from_numpy(inputs[info.name]))
    names = [info.name for info in session.get_outputs()]
    for name in names:
        binding.bind_output(name, "cpu")
    session.run_with_iobinding(binding)
    outputs = binding.get_outputs()
    binding.clear_binding_outputs()
    for name, output in zip(names, outputs):
        binding.bind_ortvalue_output(name, output)
    return binding


def run_rounds(session, bindings, seconds, min_rounds, times):
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < min_rounds or time.perf_counter() < end:
        for binding, ns in zip(bindings, times):
            start = time.perf_counter_ns()
            session.run_with_iobinding(binding)
            ns.append(time.perf_counter_ns() - start)
        rounds += 1


def percentile(values, p):
    """With the mean of two neighbours where it falls between them."""
    values = sorted(values)
    place = p * (len(values) - 1)
    low, high = math.floor(place), math.ceil(place)
    return values[low] + (place - low) * (values[high] - values[low])


def summary(times):
    def mean_ms(p):
        return sum(percentile(ns, p) for ns in times) / len(times) / 1e6
    return {"ms": mean_ms(0.5), "p10_ms": mean_ms(0.1), "p90_ms": mean_ms(0.9),
            "set_ms": [percentile(ns, 0.5) / 1e6 for ns in times],
            "runs": sum(len(ns) for ns in times)}


def peak_rss_mb():
    text = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s*(\d+)", text).group(1)) * 1024 / 1e6


def profile(path, sets, threads, seconds):
    """Milliseconds of a run by operator, of data set 0."""
    with tempfile.TemporaryDirectory() as folder:
        session = open_session(path, threads, os.path.join(folder, "profile"))
        binding = bind(session, sets[0])
        times = [[]]
        run_rounds(session, [binding], seconds, 3, times)
        events = json.loads(pathlib.Path(session.end_profiling()).read_text(encoding="utf-8"))
    kernels = [event for event in events
               if event.get("cat") == "Node" and event["name"].endswith("_kernel_time")]
    run_count = len(times[0]) + 1
    by_op = collections.defaultdict(lambda: [0, 0])
    for event in kernels:
        row = by_op[event["args"]["op_name"]]
        row[0] += event["dur"]
        row[1] += 1
    ranked = sorted(by_op.items(), key=lambda item: -item[1][0])
    return {"run_ms": percentile(times[0], 0.5) / 1e6,
            "kernels": [{"op": op, "ms": us / 1e3 / run_count, "launches": count / run_count}
                        for op, (us, count) in ranked]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True, action="append")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--profile", type=int, default=-1)
    arguments = parser.parse_args()

    sets = read_sets(arguments.data)
    start = time.perf_counter()
    session = open_session(arguments.model, arguments.threads)
    bindings = [bind(session, inputs) for inputs in sets]
    load_ms = 1e3 * (time.perf_counter() - start)

    gc.disable()
    run_rounds(session, bindings, arguments.seconds / 5, 1, [[] for _ in sets])
    times = [[] for _ in sets]
    wall, cpu = time.perf_counter(), time.process_time()
    run_rounds(session, bindings, arguments.seconds, 3, times)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall

    line = summary(times)
    line.update(cpu_ms=1e3 * cpu / line["runs"], cores=cpu / wall, load_ms=load_ms, peak_rss_mb=peak_rss_mb(), threads=arguments.threads)
    if arguments.profile >= 0:
        line["profile"] = profile(arguments.model, sets, arguments.threads, arguments.seconds)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
