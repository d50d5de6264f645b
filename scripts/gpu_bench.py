#!/usr/bin/env python3
"""Times whole nets in tensord and in PyTorch on one GPU, in one run. Called by scripts/gpu_bench.sh.

    gpu_bench.py --bin DIR --shared DIR --out FILE [--cases NET:DTYPE:BATCH,...] [--no-peer] [--keep DIR]

`shared` holds make_nets.py and peer_torch.py. Nets are made on this machine. Of each case tensord's device_bench gives the
device time of one inference with its inputs on the device, and peer_torch.py PyTorch's best of eager, CUDA graph, and
torch.compile with CUDA graph. Prints a table and writes the rows as JSON; the exit status is 0 only if every case ran.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

# Case: (net of make_nets.py, whether it is to be turned into float16, extents of its symbolic dimensions, what issue 5
# asks of the ratio, what the peer was measured at before). A peer that is more than 10 % off voids the run.
CASES = {
    "resnet50:float16:1": ("resnet50", True, {"batch": 1}, 1.0, 0.401),
    "resnet50:float16:64": ("resnet50", True, {"batch": 64}, 1.0, 2.44),
    "resnet50:float32:1": ("resnet50", False, {"batch": 1}, 1.0, 2.12),
    "mobilenet_v2:float16:1": ("mobilenet_v2", True, {"batch": 1}, 1.0, 0.245),
    "encoder12_s128:float16:1": ("encoder12_f16", False, {"batch": 1, "sequence": 128}, 1.0, 0.452),
    "encoder12_s128:float16:32": ("encoder12_f16", False, {"batch": 32, "sequence": 128}, 1.0, 2.08),
    "encoder12_s128:float32:1": ("encoder12", False, {"batch": 1, "sequence": 128}, 1.0, 1.38),
    "encoder12_s512:float16:8": ("encoder12_f16", False, {"batch": 8, "sequence": 512}, 1.0, 2.63),
    "mlp8x4096:float16:1": ("mlp8x4096_f16", False, {"batch": 1}, 0.70, 0.126),
    "mlp8x4096:float16:256": ("mlp8x4096_f16", False, {"batch": 256}, 1.0, 0.169),
    "chain1000:float32:1": ("chain_mix_1000x64", False, {}, None, 0.010),
}
MEAN_MARK = 0.85
VOID_ABOVE = 0.10


def say(text):
    print(text, file=sys.stderr, flush=True)


def to_float16(source, target):
    """The net with all that is float32 in float16: weights, inputs, outputs."""
    import onnx
    from onnx import TensorProto, numpy_helper
    model = onnx.load(source)
    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype("float16"), tensor.name))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.FLOAT16
    onnx.save(model, target)


def make_net(shared, folder, net, is_turned):
    path = folder / f"{net}.onnx"
    if not path.exists():
        subprocess.run([sys.executable, str(shared / "make_nets.py"), "--out", str(folder), net], check=True,
                       stdout=sys.stderr)
    if not is_turned:
        return path
    turned = folder / f"{net}_f16.onnx"
    if not turned.exists():
        to_float16(path, turned)
    return turned


def time_ours(arguments, folder, case):
    net, is_turned, extents, _, _ = CASES[case]
    model = make_net(arguments.shared, folder, net, is_turned)
    command = [str(arguments.bin / arguments.tool), "--model", str(model), "--device", arguments.device]
    for name, extent in extents.items():
        command += ["--dim", f"{name}={extent}"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {arguments.timeout} s"}
    if run.returncode != 0:
        return {"error": (run.stderr.strip() or f"status {run.returncode}")[-400:]}
    return json.loads(run.stdout.strip().split("\n")[-1])


def time_peer(arguments, cases):
    """peer_torch.py's rows by case."""
    command = [sys.executable, str(arguments.shared / "peer_torch.py"), "--cases", ",".join(cases)]
    run = subprocess.run(command, capture_output=True, text=True)
    rows = {}
    for line in run.stdout.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        if "batch" in row:
            rows[f"{row['model']}:{row['dtype']}:{row['batch']}"] = row
        else:
            say(line)
    if run.returncode != 0:
        say(run.stderr[-1000:])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--shared", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--tool", default="device_bench")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path, help="where nets are kept")
    arguments = parser.parse_args()
    cases = [case for case in arguments.cases.split(",") if case]
    for case in cases:
        if case not in CASES:
            parser.error(f"no case is called {case}; there are: {', '.join(CASES)}")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)

    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            rows.append({"case": case, **time_ours(arguments, folder, case)})
            say(json.dumps(rows[-1]))
    peers = {} if arguments.no_peer else time_peer(arguments, cases)

    ratios, is_void, failed = [], False, False
    print(f"{'case':28}{'device ms':>10}{'peer ms':>9}{'ratio':>7}{'mark':>6}  note")
    for row in rows:
        case = row["case"]
        *_, mark, before = CASES[case]
        notes = []
        peer = peers.get(case, {}).get("peer_ms")
        row.update({"peer_ms": peer, "peer": peers.get(case), "mark": mark})
        ours = row.get("device_ms")
        if ours is None:
            failed = True
            notes.append(row.get("error", "no device_ms"))
        ratio = ours / peer if ours and peer else None
        row["ratio"] = ratio
        if ratio is not None and mark is not None:
            ratios.append(ratio)
            if ratio > mark:
                notes.append("above the mark")
        if peer is not None and abs(peer / before - 1) > VOID_ABOVE and mark is not None:
            is_void = True
            notes.append(f"the peer was {before} before: void")
        def cell(value, digits):
            return "-" if value is None else f"{value:.{digits}f}"
        print(f"{case:28}{cell(ours, 4):>10}{cell(peer, 4):>9}{cell(ratio, 2):>7}{cell(mark, 2):>6}  {'; '.join(notes)}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    if mean is not None:
        print(f"geometric mean of {len(ratios)} ratios: {mean:.3f} (mark {MEAN_MARK}){', void' if is_void else ''}")
    arguments.out.write_text(json.dumps({"rows": rows, "geometric_mean": mean, "is_void": is_void}, indent=1) + "\n",
                             encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
