#!/usr/bin/python3
"""Records a daemon's metrics page, each second of a load, where there is no Prometheus: on a machine with a GPU.

    record_pages.py --bin FOLDER --device cuda:0 --out FILE [--seconds 60]

FILE is JSON lines, with gzip: the seconds since the start and the page. live_check.py --recorded FILE plays it to a
Prometheus, asks all panels, and draws them. Needs nothing but Python.
"""

import argparse
import gzip
import json
import pathlib
import sys
import threading
import time
import urllib.request

import load as load_maker
import metric_names

sys.path.insert(0, str(metric_names.ROOT / "scripts"))
import daemon_process

PERIOD = 1.0
# Before the first call and after the last one, so that rates have both ends.
MARGIN = 3.0


class Recorder:
    """Fetches the page each second, on a thread of its own."""

    def __init__(self, address):
        self._url = f"http://{address}/metrics"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.pages = []

    def _run(self):
        start = time.monotonic()
        while not self._stop.is_set():
            due = time.monotonic()
            with urllib.request.urlopen(self._url, timeout=10) as answer:
                self.pages.append((due - start, answer.read().decode()))
            self._stop.wait(max(0, due + PERIOD - time.monotonic()))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where tensord and tensordctl are")
    parser.add_argument("--device", default="cuda:0", help="which device is loaded")
    parser.add_argument("--seconds", type=float, default=60, help="how long the load lasts")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with daemon_process.Daemon(options.bin, ["--devices", f"{options.device},null:0", "--tuning"], has_metrics=True) as daemon:
        load = load_maker.Load(options.bin / "tensordctl", daemon.address["tcp"], options.device)
        with Recorder(daemon.metrics_address) as recorder:
            time.sleep(MARGIN)
            counts = load_maker.run(load, options.seconds)
            time.sleep(MARGIN)
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        for seconds, page in recorder.pages:
            file.write(json.dumps([round(seconds, 3), page]) + "\n")
    print(f"{len(recorder.pages)} pages of {counts[0]} runs and {counts[1]} on streams: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
