#!/usr/bin/python3
"""Times whole models in tensord and in ONNX Runtime, process against process in turns. Lines of JSON on stdout.

    bench_models.py [--models M,...] [--threads N,...] [--quick] [--no-peer] [--profile N] ...

M is a model of models/real in the shared folder, a net of make_nets.py, a pattern of either, one of the groups

    counted   what the geometric mean is over: the real models, and COUNTED_NETS of bench_catalogue.py
    real      the real models alone
    nets      whole nets of make_nets.py
    single    its nets of one operator

or a folder with model.onnx and test_data_set_*. Without --models, all but folders. Nets are written to build/nets, once.

A round is a process of engine_bench and then one of the peer (bench_peer.py); the figure of each is the median of its
processes' medians. A daemon is started for each model afterwards, and client_bench times calls over a unix socket and
over TCP. docs/performance.md says what every field means; the first row, identity, is the cost of the bindings.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnx_peer  # noqa: E402
from bench_catalogue import COUNTED_NETS, IDENTITY, Catalogue, note  # noqa: E402
from daemon_process import Daemon, Failed  # noqa: E402

ROOT = onnx_peer.ROOT

# Memory in use at once, in sizes of the model's file.
COPIES = 5
# Below this share of idle time before, or of a core for one thread meanwhile, figures are of a machine that does
# other things as well.
IDLE_ENOUGH = 0.93


def emit(row):
    print(json.dumps(row), flush=True)


# --- The machine.

def idle_share(seconds=0.4):
    """Of all cores, over that time."""
    def read():
        fields = pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
        times = [int(field) for field in fields]
        return times[3] + times[4], sum(times[:8])
    idle, total = read()
    time.sleep(seconds)
    idle_then, total_then = read()
    return (idle_then - idle) / max(1, total_then - total)


def check_idle(name):
    """Warns when the machine does other work, and says how idle it was."""
    idle, load = idle_share(), os.getloadavg()[0]
    if idle < IDLE_ENOUGH:
        note(f"{name}: the machine is {100 * idle:.0f} % idle (load {load:.2f}): "
             "its figures are not to be trusted")
    return {"idle": round(idle, 3), "load": round(load, 2)}


def pinned(command, threads):
    """On as many cores as there are threads."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) <= threads:
        return command
    return ["taskset", "-c", ",".join(str(core) for core in cores[-threads:]), *command]


def machine_row(options):
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = [line.split(":", 1)[1].strip() for line in cpuinfo.splitlines()
             if line.startswith("model name")]
    revision = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                              capture_output=True, text=True, check=False).stdout.strip()
    return {"bench": "machine", "cpu": model[0] if model else "", "cores": os.cpu_count(),
            "revision": revision, "peer": onnx_peer.PACKAGES[0] if options.peer else None,
            "rounds": options.rounds, "seconds": options.seconds, **check_idle("at the start")}


# --- Processes.

def run_json(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise Failed(f"{pathlib.Path(command[0]).name}: {lines[-1]}" if command[0] != "taskset"
                     else lines[-1])
    return json.loads(done.stdout)


# --- One model.

def combined(side, processes):
    """The figures of one side, from those of its processes."""
    def median(key):
        return statistics.median(process[key] for process in processes)
    row = {f"{side}_ms": median("ms"), f"{side}_p10_ms": median("p10_ms"),
           f"{side}_p90_ms": median("p90_ms"),
           f"{side}_process_ms": [process["ms"] for process in processes],
           f"{side}_set_ms": [statistics.median(times) for times in
                              zip(*(process["set_ms"] for process in processes))]}
    if side in ("engine", "peer"):
        row |= {f"{side}_cpu_ms": median("cpu_ms"), f"{side}_cores": median("cores"),
                f"{side}_load_ms": median("load_ms"), f"{side}_peak_mb": median("peak_rss_mb")}
    return row


def bench_model(model, threads, options):
    row = {"bench": "model", "model": model.name, "threads": threads, "counted": model.is_counted,
           **check_idle(model.name)}
    common = [*model.arguments(), "--seconds", str(options.seconds)]
    engine_command = pinned([options.bin / "engine_bench", *common, "--threads", str(threads)], threads)
    peer_command = pinned([options.python, ROOT / "scripts/bench_peer.py", *common,
                           "--threads", str(threads)], threads)
    if options.profile is not None:
        engine_command += ["--profile", str(options.profile)]
        peer_command += ["--profile", str(options.profile)]
    runs = {"engine": [], "peer": []}
    for _ in range(options.rounds):
        runs["engine"].append(run_json(engine_command))
        if options.peer:
            runs["peer"].append(run_json(peer_command))
    row |= combined("engine", runs["engine"])
    for key in ("nodes", "computing_nodes", "launches"):
        row[key] = runs["engine"][0][key]
    if options.peer:
        row |= combined("peer", runs["peer"])
        row["ratio"] = row["engine_ms"] / row["peer_ms"]
    if threads == 1:
        row["disturbed"] = min(process["cores"] for side in runs.values()
                               for process in side) < IDLE_ENOUGH
    if options.profile is not None:
        row["profile"] = {side: processes[-1]["profile"] for side, processes in runs.items() if processes}
        return row
    arguments = ["--devices", "cpu:0", "--threads", str(threads), "--max-message-bytes", "1GiB"]
    with Daemon(options.bin, arguments) as daemon:
        calls = {"unix": [], "tcp": []}
        for _ in range(options.rounds):
            for transport, processes in calls.items():
                processes.append(run_json([options.bin / "client_bench", *common, "--address",
                                           daemon.address[transport]]))
        for transport, processes in calls.items():
            row |= combined(transport, processes)
        row["daemon_peak_mb"] = daemon.peak_mb()
    return row


def rounded(value):
    """Five digits are more than the machine repeats."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, list):
        return [rounded(element) for element in value]
    if isinstance(value, dict):
        return {key: rounded(element) for key, element in value.items()}
    return value


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def last_row(rows, asked):
    """The figures in short; `asked` are the names of the counted models that should have one."""
    threads = sorted({row["threads"] for row in rows})
    counted = [row for row in rows if row["counted"] and "ratio" in row]
    ratios, less_binding = {}, {}
    for count in threads:
        mine = [row for row in counted if row["threads"] == count]
        binding = next((row["peer_ms"] for row in rows if row["model"] == IDENTITY
                        and row["threads"] == count and "peer_ms" in row), 0)
        ratios[str(count)] = geomean([row["ratio"] for row in mine])
        less_binding[str(count)] = geomean(
            [row["engine_ms"] / max(row["peer_ms"] - binding, 1e-6) for row in mine])
    worst = max(counted, key=lambda row: row["ratio"], default=None)
    return {"bench": "models", "geomean_engine_over_peer": ratios,
            "geomean_engine_over_peer_less_binding": less_binding,
            "worst": worst and {key: worst[key] for key in ("model", "threads", "ratio")},
            "counted": len({row["model"] for row in counted}),
            "missing": [name for name in asked if any(
                not any(row["model"] == name and row["threads"] == count for row in counted)
                for count in threads)]}


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench.sh models", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", help="names, patterns, groups or folders, with commas; default: all")
    parser.add_argument("--threads", default="1,2", help="thread counts, with commas (default 1,2)")
    parser.add_argument("--quick", action="store_true", help="one short round: for development")
    parser.add_argument("--rounds", type=int, help="processes of each side (default 3)")
    parser.add_argument("--seconds", type=float, help="of measuring in each process (default 1.5)")
    parser.add_argument("--no-peer", dest="peer", action="store_false", help="tensord alone")
    parser.add_argument("--profile", type=int, metavar="N",
                        help="where the time goes on both sides, with N single nodes, instead of calls")
    parser.add_argument("--check", action="store_true", help="only whether the arguments are right")
    parser.add_argument("--nets", type=pathlib.Path, default=ROOT / "build/nets",
                        help="where nets are kept (default build/nets)")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="folder of engine_bench, client_bench and tensord")
    options = parser.parse_args(arguments)
    try:
        options.threads = [int(count) for count in options.threads.split(",")]
    except ValueError:
        options.threads = []
    if not options.threads or min(options.threads) < 1:
        parser.error("--threads takes numbers from 1, with commas")
    if options.rounds is not None and options.rounds < 1:
        parser.error("--rounds is at least 1")
    options.rounds = options.rounds or (1 if options.quick else 3)
    if options.seconds is None:
        options.seconds = 0.4 if options.quick else 1.5
    if options.seconds <= 0:
        parser.error("--seconds is above 0")
    options.bin = options.bin.resolve()
    return options


def main():
    options = parse(sys.argv[1:])
    catalogue = Catalogue()
    names = catalogue.resolve(options.models.split(",") if options.models
                              else catalogue.names("all"))
    if options.check:
        return
    options.python = onnx_peer.make_venv() if options.peer else None
    asked = [name for name in names if name in catalogue.real or name in COUNTED_NETS]
    emit(machine_row(options))
    rows = []
    for name in [IDENTITY, *names]:
        model = catalogue.open(name, options.nets)
        if onnx_peer.available_megabytes() < COPIES * model.megabytes():
            note(f"{name} is left out: it needs some {COPIES * model.megabytes()} MB of memory")
            continue
        for threads in options.threads:
            try:
                row = bench_model(model, threads, options)
            except Failed as failure:
                emit({"bench": "model", "model": model.name, "threads": threads, "counted": model.is_counted,
                      "error": str(failure)})
                continue
            rows.append(row)
            emit(rounded(row))
    emit(rounded(last_row(rows, asked)))


if __name__ == "__main__":
    main()
