#!/usr/bin/python3
"""How far estimates are from what launches take, over whole models. A table on stdout.

    estimate_check.py [--models M,...] [--threads N] [--seconds S] [--kernels] [--at-least SHARE]

M is as in bench_models.py; without it, the real models. For each model engine_bench (built before, in --bin) times every
launch of some runs; a launch counts as good when its median is between half and twice its estimate. All launches count,
however short they are. The last row is over the launches of all models. --kernels adds a row for each kernel: how many of
its launches are good, and the quartiles of measured / estimated. --at-least fails when the whole share is below that.

A graph that is planned while it runs has no launches that can be named; it is left out, and the table says so.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import onnx_peer  # noqa: E402
from bench_catalogue import Catalogue  # noqa: E402


def launches_of(model, options):
    """The rows of a model's launches, or None when it is staged."""
    command = [options.bin / "engine_bench", *model.arguments(), "--threads", str(options.threads), "--seconds",
               str(options.seconds), "--profile", "100000"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"estimate_check: {model.name}: {done.stderr.strip()}")
    return json.loads(done.stdout)["profile"].get("nodes")


def ratio(launch):
    return launch["median_ms"] / launch["estimated_ms"]


def is_good(launch):
    return 0.5 <= ratio(launch) <= 2


def share_text(launches):
    good = sum(map(is_good, launches))
    return f"{good:6} of {len(launches):5}  {100 * good / max(1, len(launches)):5.1f} %"


def print_kernels(launches):
    by_kernel = collections.defaultdict(list)
    for launch in launches:
        by_kernel[launch["kernel"]].append(launch)
    print(f"\n{'kernel':34} {'within twice':>24}  measured / estimated: quartiles")
    for kernel, rows in sorted(by_kernel.items(), key=lambda item: sum(map(is_good, item[1])) - len(item[1])):
        ratios = sorted(map(ratio, rows))
        quartiles = [ratios[(len(ratios) - 1) * part // 4] for part in (1, 2, 3)]
        print(f"{kernel:34} {share_text(rows):>24}  {quartiles[0]:6.2f} {quartiles[1]:6.2f} {quartiles[2]:6.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="real")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--bin", type=pathlib.Path, default=onnx_peer.ROOT / "build/release/bin")
    parser.add_argument("--nets", type=pathlib.Path, default=onnx_peer.ROOT / "build/nets")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--at-least", type=float, default=0)
    options = parser.parse_args()
    if not (options.bin / "engine_bench").exists():
        sys.exit(f"estimate_check: no {options.bin}/engine_bench; build it first")

    catalogue = Catalogue()
    every = []
    print(f"{'model':42} {'within twice':>24}")
    for name in catalogue.resolve(options.models.split(",")):
        launches = launches_of(catalogue.open(name, options.nets), options)
        if launches is None:
            print(f"{name:42} planned while it runs")
            continue
        every += launches
        print(f"{name:42} {share_text(launches):>24}", flush=True)
    print(f"{'all':42} {share_text(every):>24}")
    if options.kernels:
        print_kernels(every)
    return 0 if every and sum(map(is_good, every)) >= options.at_least * len(every) else 1


if __name__ == "__main__":
    sys.exit(main())
