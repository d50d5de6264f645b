#!/usr/bin/python3
"""Measures what being observed costs: op_profile as the daemon has it by default, and scrapes under load.

    bench_observability.py [--quick] [--part PART ...] [--bin build/release/bin]

A line of JSON for each figure: what was measured, its limit, and whether it is met. Parts are times, instructions and
scrapes; bench/README.md says what each is. The exit status is 1 if a limit was not met.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import onnx_peer  # noqa: E402
from bench_catalogue import RELU, Catalogue  # noqa: E402
from daemon_process import Daemon, Failed  # noqa: E402

ROOT = onnx_peer.ROOT
NETS = ROOT / "build/nets"

MODELS = [RELU, "silero_vad_v5", "mobilenet_v2"]
PARTS = ["times", "instructions", "scrapes"]
MAX_RATIO = 1.02
MIN_SCRAPED_RATE = 0.99
# Runs of the two processes whose instructions are compared: of a small model more, since starting takes what it takes.
INSTRUCTION_RUNS = {RELU: (20_000, 40_000), "silero_vad_v5": (64, 128), "mobilenet_v2": (16, 32)}


def emit(row):
    print(json.dumps(row), flush=True)


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{pathlib.Path(command[0]).name}: {done.stderr.strip()[-500:]}")
    return done


def measure_times(arguments, models):
    """Whether all ratios are within the limit."""
    is_met = True
    rounds = ["--rounds", 5, "--round-ms", 20] if arguments.quick else ["--rounds", 101, "--round-ms", 50]
    for model in models:
        row = json.loads(run([arguments.bin / "profile_bench", *model.arguments(), *rounds]).stdout)
        row = {"bench": "times", "model": model.name, **row, "limit": MAX_RATIO, "is_met": row["ratio"] <= MAX_RATIO}
        is_met &= row["is_met"]
        emit(row)
    return is_met


def count_instructions(arguments, model, mode, runs):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", arguments.bin / "profile_bench",
               *model.arguments(), "--mode", mode, "--runs", runs]
    return int(re.search(r"Collected : (\d+)", run(command).stderr).group(1))


def measure_instructions(arguments, models):
    is_met = True
    for model in models:
        short, long = INSTRUCTION_RUNS[model.name]
        per_run = {}
        for mode in ("off", "sampled"):
            counts = [count_instructions(arguments, model, mode, runs) for runs in (short, long)]
            per_run[mode] = (counts[1] - counts[0]) / (long - short)
        ratio = per_run["sampled"] / per_run["off"]
        emit({"bench": "instructions", "model": model.name, **{key: round(value) for key, value in per_run.items()},
              "ratio": round(ratio, 5), "limit": MAX_RATIO, "is_met": ratio <= MAX_RATIO})
        is_met &= ratio <= MAX_RATIO
    return is_met


class Scraper:
    """Reads a page once a second for as long as it is entered."""

    def __init__(self, url):
        self._url, self.bytes, self.count = url, 0, 0

    def __enter__(self):
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _run(self):
        while True:
            with urllib.request.urlopen(self._url) as page:
                self.bytes = len(page.read())
            self.count += 1
            if self._end.wait(1):
                return


def measure_scrapes(arguments, models):
    windows, seconds = (2, 2) if arguments.quick else (15, 3)
    model = models[0]  # the shortest runs: the most that a scrape could meet
    with Daemon(arguments.bin, ["--log-level", "error"], has_metrics=True) as daemon:
        # A page of some size: all models have run.
        for other in models:
            run([arguments.bin / "tensordctl", "run", other.path, "--input", "random", "--address", daemon.address["unix"]])
        scraper = Scraper(f"http://{daemon.metrics_address}/metrics")

        def rate():
            done = run([arguments.bin / "tensordctl", "bench", model.path, "--input", "random", "--concurrency", 4,
                        "--duration", f"{seconds}s", "--address", daemon.address["unix"], "--json"])
            return json.loads(done.stdout)["rate"]

        rate()
        plain, scraped = [], []
        for window in range(windows):
            for is_scraped in ((False, True) if window % 2 == 0 else (True, False)):
                if is_scraped:
                    with scraper:
                        scraped.append(rate())
                else:
                    plain.append(rate())
    ratio = statistics.median(b / a for a, b in zip(plain, scraped))
    emit({"bench": "scrapes", "model": model.name, "plain_per_second": statistics.median(plain),
          "scraped_per_second": statistics.median(scraped), "ratio": round(ratio, 4), "windows": windows,
          "scrapes": scraper.count, "page_bytes": scraper.bytes, "limit": MIN_SCRAPED_RATE,
          "is_met": ratio >= MIN_SCRAPED_RATE})
    return ratio >= MIN_SCRAPED_RATE


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the programs")
    parser.add_argument("--quick", action="store_true", help="only whether it can be measured")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; may be given again")
    arguments = parser.parse_args()
    NETS.mkdir(parents=True, exist_ok=True)
    catalogue = Catalogue()
    measures = {"times": measure_times, "instructions": measure_instructions, "scrapes": measure_scrapes}
    try:
        models = [catalogue.open(name, NETS) for name in MODELS]
        met = [measures[part](arguments, models) for part in arguments.part or PARTS]
    except Failed as failure:
        sys.exit(f"bench_observability: {failure}")
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
