"""Load on a daemon, made by tensordctl: several graphs, two devices, a burst that queues, calls that are refused."""

import json
import os
import pathlib
import subprocess
import time

import metric_names

DIGITS = metric_names.ROOT / "models/digits"


class Failed(Exception):
    pass


def models():
    """{name: (file, arguments of bench)}: those of the repository, and real ones where there are any."""
    found = {"digits": (DIGITS / "model.onnx", ["--set", "N=4"])}
    shared = pathlib.Path(os.environ.get("TENSORD_SHARED_DIR") or metric_names.ROOT.parent / "shared")
    for name in ("fr_pose", "face_detection_front_128x128_barracuda"):
        file = shared / "models/real" / name / "model.onnx"
        if file.exists():
            found[name] = (file, [])
    return found


class Load:
    """Calls that are under way. `finish` says how many runs there were.

    Each bench tries a graph by one Execute before it measures; `trial_count` is how many of these there were in all.
    """

    trial_count = 0

    def __init__(self, tensordctl, address, device="cpu:0"):
        self._tensordctl, self._address, self.device = tensordctl, address, device
        self._benches = []

    def command(self, *arguments, expected=0):
        """Runs one command to its end; its output."""
        outcome = subprocess.run([self._tensordctl, *arguments, "--address", self._address],
                                 capture_output=True, text=True, check=False)
        if outcome.returncode != expected:
            raise Failed(f"tensordctl {' '.join(map(str, arguments))}: status {outcome.returncode}, not {expected}: "
                         f"{outcome.stderr.strip()}")
        return outcome.stdout

    def start(self, model, seconds, *how):
        file, arguments = model
        self.trial_count += 1
        self._benches.append(subprocess.Popen(
            [self._tensordctl, "bench", file, "--input", "random", *arguments, *how, "--duration", f"{seconds:.1f}s",
             "--warm-up", "0", "--json", "--address", self._address],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))

    def finish(self):
        """Waits for all; their runs added up."""
        count = 0
        for bench in self._benches:
            output, errors = bench.communicate()
            result = json.loads(output or "{}")
            if bench.returncode != 0 or result.get("error_count") != 0:
                raise Failed(f"bench: status {bench.returncode}: {output}{errors}")
            count += result["latency"]["count"]
        self._benches = []
        return count


def run(load, seconds):
    """The whole of it. Returns the counts of runs: by Execute, and on streams."""
    available = models()
    start = time.monotonic()

    def sleep_until(share):
        time.sleep(max(0, start + share * seconds - time.monotonic()))

    # A sequence of its own for the calls that are refused and what stays in the daemon.
    load.command("submit", metric_names.ROOT / "README.md", expected=2)
    session = load.command("sessions", "create", "--quiet").strip()
    load.command("upload", DIGITS / "sample.npy", "--session", session)
    load.start(available["digits"], seconds, "--rate", "60", "--device", load.device)
    load.start(available["digits"], seconds * 0.8, "--rate", "20", "--device", "null:0")
    for name, begin in (("face_detection_front_128x128_barracuda", 0.15), ("fr_pose", 0.35)):
        sleep_until(begin)
        if name in available:
            load.start(available[name], seconds * 0.4, "--concurrency", "1", "--device", load.device)
    sleep_until(0.55)
    # More at once than there are lanes.
    load.start(available["digits"], seconds * 0.2, "--concurrency", "24", "--connections", "4", "--device", load.device)
    unary = load.finish()
    load.start(available["digits"], seconds * 0.05, "--concurrency", "4", "--stream", "--device", load.device)
    streamed = load.finish()
    return unary + load.trial_count, streamed
