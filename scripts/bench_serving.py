#!/usr/bin/python3
"""Measures how tensord serves: overhead, streams, payloads, batching, fairness, overload, draining, a soak.

    bench_serving.py [MARK ...] [--full] [--minutes N]

A line of JSON for each mark, with what was measured, what it should be, and whether it is; the last line has the names of
those that were not met. Without names, all marks. The default lengths are for development: on a machine that does
other things they tell that a mark can be measured, not what it is. --full takes the lengths of docs/performance.md.
bench/README.md says what each mark is.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import onnx_peer  # noqa: E402
from bench_catalogue import Catalogue  # noqa: E402
from daemon_process import Daemon, Failed  # noqa: E402

ROOT = onnx_peer.ROOT

# What must hold, as docs/performance.md has it.
P50_RATIO_C1 = 1.2
RATE_RATIO_C64 = 0.75
STREAM_RATIO = 1.6
POOLED_ECHO_RATIO = 0.9
UPLOAD_RATIO = 0.6
BATCHING_GAIN = {"mlp8x4096": 3.0, "mlp4x1024": 1.8}
FLOOD_P99_RATIO = 2.0
SUBMIT_P99_RATIO = 1.5
GOODPUT_RATIO = 0.9
# An accepted run waits for at most those in the queue and on the lanes, and no two take quite the same time.
QUEUE_LENGTH, LANES, QUEUE_SLACK = 32, 2, 1.25

LARGE_REPLY_BYTES = 32 << 20

# Of what a process takes: a change below it is none.
UNTOLD = {"rss_mb": 0.3, "files": 0.5, "threads": 0.5}


def emit(row):
    print(json.dumps(row), flush=True)


def last_json(command):
    """The last line of a program that tells its results as JSON, whatever its exit status says of errors."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if not lines:
        raise Failed(f"{pathlib.Path(command[0]).name}: {done.stderr.strip() or done.returncode}")
    return json.loads(lines[-1])


def slope(samples):
    """Of (time, value) pairs by least squares, and its standard error."""
    count = len(samples)
    mean_x = statistics.fmean(x for x, _ in samples)
    mean_y = statistics.fmean(y for _, y in samples)
    sxx = sum((x - mean_x) ** 2 for x, _ in samples)
    if count < 3 or sxx == 0:
        return 0.0, float("inf")
    b = sum((x - mean_x) * (y - mean_y) for x, y in samples) / sxx
    rest = sum((y - mean_y - b * (x - mean_x)) ** 2 for x, y in samples)
    return b, (rest / (count - 2) / sxx) ** 0.5


def block_means(samples, count=12):
    """Of (time, value) pairs in order, cut into at most so many blocks."""
    size = -(-len(samples) // count)
    blocks = [samples[at:at + size] for at in range(0, len(samples), size)]
    return [(statistics.fmean(x for x, _ in block), statistics.fmean(y for _, y in block)) for block in blocks]


class Watch:
    """Samples what a daemon takes of the machine, on a thread, once a second."""

    def __init__(self, daemon):
        self.samples = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(daemon,))

    def _run(self, daemon):
        begin = time.monotonic()
        while not self._end.wait(1):
            try:
                self.samples.append((time.monotonic() - begin, daemon.usage()))
            except OSError:
                return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def summary(self):
        """Over the second half: the first one warms up. Samples follow each other, so that a slope's error is taken
        from the means of blocks of them, and what is less than some pages is nothing."""
        half = self.samples[len(self.samples) // 2:]
        if not half:
            return {}
        row = {}
        for key in ("rss_mb", "files", "threads"):
            values = [usage[key] for _, usage in half]
            per_second, error = slope(block_means([(at, usage[key]) for at, usage in half]))
            growth = per_second * (half[-1][0] - half[0][0])
            row[key] = {"first": values[0], "last": values[-1], "per_minute": 60 * per_second,
                        "is_flat": abs(per_second) <= 2 * error or abs(growth) <= UNTOLD[key]}
        return row


class Bench:
    def __init__(self, options):
        self.options = options
        self.bin = options.bin
        self.catalogue = Catalogue()

    # --- Means.

    def seconds(self, short, full):
        return full if self.options.full else short

    def daemon(self, *arguments):
        return Daemon(self.bin, [str(argument) for argument in arguments])

    def model(self, name):
        return self.catalogue.open(name, self.options.nets).path

    def graph(self):
        """The arguments of tensordctl that name --graph and its extents."""
        extents = [part for extent in self.options.extents for part in ("--set", extent)]
        return [self.model(self.options.graph), *extents]

    def ctl(self, daemon, *arguments):
        return [self.bin / "tensordctl", *arguments, "--address", daemon.address["tcp"]]

    def load(self, daemon, *arguments, seconds, warm_up=1):
        return last_json(self.ctl(daemon, "bench", *arguments, "--input", "random", "--json",
                                  "--duration", f"{seconds}s", "--warm-up", f"{warm_up}s" if warm_up else "0"))

    def session(self, daemon):
        done = subprocess.run(self.ctl(daemon, "sessions", "create", "--quiet"), capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        return done.stdout.strip()

    def background_load(self, daemon, *arguments, seconds):
        return subprocess.Popen(
            [str(part) for part in self.ctl(daemon, "bench", *arguments, "--input", "random", "--json",
                                            "--duration", f"{seconds}s", "--warm-up", "0")],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    # --- Marks. Each gives its figures and whether they are as they should be.

    def overhead(self):
        with self.daemon("--devices", "null:0", "--enable-echo-for-benchmarks") as daemon:
            row = last_json([self.bin / "rpc_bench", daemon.address["tcp"], "--rounds",
                             self.seconds(4, 16)])
        keys = ("p50_ratio_c1", "rate_ratio_c64")
        row = {key: row[key] for key in keys}
        return row, row["p50_ratio_c1"] <= P50_RATIO_C1 and row["rate_ratio_c64"] >= RATE_RATIO_C64

    def stream(self):
        with self.daemon("--devices", "null:0") as daemon:
            row = last_json([self.bin / "stream_bench", daemon.address["tcp"], "--rounds",
                             self.seconds(4, 16)])
        return row, row["stream_rate_ratio"] >= STREAM_RATIO

    def payloads(self):
        rows = []
        with self.daemon("--devices", "null:0", "--enable-echo-for-benchmarks",
                         "--max-message-bytes", "256MiB") as daemon:
            for mib in (1, 16, 64):
                rows.append(last_json([self.bin / "payload_bench", daemon.address["tcp"], "--mib", mib,
                                       "--rounds", self.seconds(2, 8)]))
        return {"sizes": rows}, all(row["pooled_echo_ratio"] >= POOLED_ECHO_RATIO and
                                    row["upload_ratio"] >= UPLOAD_RATIO for row in rows)

    def batching(self):
        rows, met = {}, True
        for name, gain in BATCHING_GAIN.items():
            figures = {}
            for kind, arguments in (("unbatched", ["--max-batch-size", "1"]), ("batched", [])):
                with self.daemon("--devices", "cpu:0", "--max-queue-length", 256, *arguments) as daemon:
                    figures[kind] = self.load(daemon, self.model(name), "--set", "batch=1", "--concurrency", 64,
                                              seconds=self.seconds(5, 30))
            rate = {kind: figure["rate"] for kind, figure in figures.items()}
            p99 = {kind: figure["latency"]["p99_ns"] for kind, figure in figures.items()}
            rows[name] = {"rate": rate, "p99_ns": p99, "gain": rate["batched"] / max(rate["unbatched"], 1e-9)}
            met = met and rows[name]["gain"] >= gain and p99["batched"] < p99["unbatched"]
        return rows, met

    def fairness(self):
        """One session's p99, alone and beside one that floods."""
        seconds = self.seconds(5, 30)
        graph = self.graph()
        with self.daemon("--devices", "cpu:0") as daemon:
            quiet, flooding = self.session(daemon), self.session(daemon)
            polite = ["--session", quiet, "--concurrency", 1]
            alone = self.load(daemon, *graph, *polite, seconds=seconds)
            flood = self.background_load(daemon, *graph, "--session", flooding, "--concurrency", 256,
                                         seconds=seconds + 3)
            beside = self.load(daemon, *graph, *polite, seconds=seconds)
            flood.communicate()
        row = {"p99_alone_ns": alone["latency"]["p99_ns"], "p99_beside_ns": beside["latency"]["p99_ns"],
               "runs_alone": alone["latency"]["count"], "runs_beside": beside["latency"]["count"]}
        row["ratio"] = row["p99_beside_ns"] / max(row["p99_alone_ns"], 1)
        # One that starves has no run at all, and so no percentile.
        return row, (row["ratio"] <= FLOOD_P99_RATIO and beside["error_count"] == 0
                     and 4 * row["runs_beside"] >= row["runs_alone"])

    def submit(self):
        """p99 of a small graph's runs while large graphs are submitted, over windows in turns with and without."""
        windows, seconds = self.seconds(2, 10), self.seconds(4, 10)
        ratios, submits, errors = [], [], 0
        with self.daemon("--devices", "cpu:0") as daemon:
            self.load(daemon, *self.graph(), "--concurrency", 2, seconds=1)
            for _ in range(windows):
                p99 = []
                for large in (None, "bert_base"):
                    submitter = self.submitter(daemon, large) if large else None
                    figure = self.load(daemon, *self.graph(), "--concurrency", 2, seconds=seconds, warm_up=0)
                    p99.append(figure["latency"]["p99_ns"])
                    errors += figure["error_count"]
                    if submitter is not None:
                        submits.append(json.loads(submitter.communicate()[0])["already_known"])
                        self.forget(daemon, large)
                ratios.append(p99[1] / max(p99[0], 1))
        row = {"ratios": ratios, "median": statistics.median(ratios), "errors": errors,
               "compiled": submits.count(False)}
        return row, row["median"] <= SUBMIT_P99_RATIO and errors == 0 and row["compiled"] == windows

    def submitter(self, daemon, name):
        """A client that yields to all others: it would not be on the daemon's machine."""
        command = self.ctl(daemon, "submit", self.model(name), "--json", "--hint", "batch=1,sequence=128")
        return subprocess.Popen(["nice", "-n", "19", *map(str, command)], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)

    def forget(self, daemon, name):
        """Drops a graph by its name, so that it is compiled when it comes again."""
        listed = last_json(self.ctl(daemon, "graphs", "--json"))["graphs"]
        for graph in listed:
            if graph.get("name") == name:
                subprocess.run([str(part) for part in self.ctl(daemon, "graphs", "delete", graph["graph_id"])],
                               stdout=subprocess.DEVNULL, check=False)

    def overload(self):
        seconds = self.seconds(10, 60)
        graph = self.graph()
        with self.daemon("--devices", "cpu:0", "--max-queue-length", QUEUE_LENGTH, "--lanes-per-device", LANES) as daemon:
            capacity = self.load(daemon, *graph, "--concurrency", 8, seconds=self.seconds(5, 20))
            with Watch(daemon) as watch:
                offered = self.load(daemon, *graph, "--rate", f"{5 * capacity['rate']:.3f}", "--max-open", 100000,
                                    seconds=seconds)
        row = {"capacity": capacity["rate"], "offered": 5 * capacity["rate"], "goodput": offered["rate"],
               "p50_ns": offered["latency"]["p50_ns"], "p99_ns": offered["latency"]["p99_ns"],
               "p99_bound_ns": 1e9 * QUEUE_SLACK * (QUEUE_LENGTH + LANES) / max(offered["rate"], 1e-9),
               "errors": offered["errors"], "not_made": offered["not_made_count"],
               "refused_without_delay": offered["refused_without_delay_count"], **watch.summary()}
        return row, (row["goodput"] >= GOODPUT_RATIO * row["capacity"] and set(row["errors"]) <= {"RESOURCE_EXHAUSTED"}
                     and row["refused_without_delay"] == 0 and row["p99_ns"] <= row["p99_bound_ns"]
                     and row.get("rss_mb", {}).get("is_flat", False))

    def sigterm(self):
        """No accepted request is lost: the client has an answer for each run that succeeded, by the daemon's count."""
        small = ["cpu:0", *self.graph()]
        large = ["null:0", self.model("negative"), "--set", f"n={LARGE_REPLY_BYTES // 4}"]
        rows, met = [], True
        for (device, model, *extents), arguments in (
                (small, ["--concurrency", 16]), (small, ["--concurrency", 4, "--stream"]),
                (large, ["--concurrency", 4, "--connections", 4])):
            with self.daemon("--devices", device, "--drain-timeout", "20s") as daemon:
                load = self.background_load(daemon, model, *extents, *arguments, seconds=self.seconds(6, 20))
                time.sleep(self.seconds(3, 10))
                took, status = daemon.stop(30)
                out, _ = load.communicate()
                ended = daemon.stopped()
            figure = json.loads(out.strip().splitlines()[-1])
            # The tool makes one call before those that it counts.
            answered = figure["latency"]["count"] + 1
            rows.append({"graph": model.parent.name, "arguments": [str(argument) for argument in arguments],
                         "exit_status": status, "seconds": took, "answered": answered, "errors": figure["errors"],
                         "daemon": ended})
            # What was still being received is cut off by gRPC, with either code. Runs that were refused are among
            # those that failed.
            met = met and (status == 0 and set(figure["errors"]) <= {"UNAVAILABLE", "CANCELLED"}
                           and ended.get("succeeded") == str(answered)
                           and ended.get("cancelled") == ended.get("expired") == "0")
        return {"runs": rows}, met

    def soak(self):
        """Unary, streamed and by-rate load of two graphs, and clients that come and go."""
        seconds = int(60 * (self.options.minutes or (30 if self.options.full else 1)))
        graph, other = self.graph(), self.model("identity")
        end = time.monotonic() + seconds
        calls = failures = 0
        with self.daemon("--devices", "cpu:0") as daemon, Watch(daemon) as watch:
            loads = [self.background_load(daemon, *arguments, seconds=seconds) for arguments in (
                [*graph, "--concurrency", 4], [other, "--concurrency", 4, "--stream"], [other, "--rate", 20])]
            while time.monotonic() < end:
                for command in (["run", other, "--input", "random"], ["devices"], ["profile"]):
                    done = subprocess.run([str(part) for part in self.ctl(daemon, *command)],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
                    calls += 1
                    failures += done.returncode != 0
            figures = [json.loads(load.communicate()[0].strip().splitlines()[-1]) for load in loads]
        row = {"minutes": seconds / 60, "commands": calls, "failed_commands": failures,
               "runs": [figure["latency"]["count"] for figure in figures],
               "errors": [figure["errors"] for figure in figures], **watch.summary()}
        return row, (failures == 0 and not any(row["errors"]) and row["rss_mb"]["is_flat"]
                     and row["files"]["is_flat"] and row["threads"]["is_flat"])


MARKS = ["overhead", "stream", "payloads", "batching", "fairness", "submit", "overload", "sigterm", "soak"]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench.sh serving", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marks", nargs="*", metavar="MARK", help=", ".join(MARKS))
    parser.add_argument("--full", action="store_true", help="the lengths that docs/performance.md has")
    parser.add_argument("--minutes", type=float, help="of the soak (default 1, with --full 30)")
    parser.add_argument("--graph", default="bert_minilm_l6",
                        help="what fairness, submit, overload, sigterm and soak run; at least 5 ms a run, and small "
                             "requests, since the client shares the machine (default bert_minilm_l6)")
    parser.add_argument("--set", action="append", metavar="SYMBOL=EXTENT", dest="extents",
                        help="of that graph's symbols (default batch=1 and sequence=128)")
    parser.add_argument("--nets", type=pathlib.Path, default=ROOT / "build/nets",
                        help="where nets are kept (default build/nets)")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="folder of tensord, tensordctl and the benchmarks")
    parser.add_argument("--check", action="store_true", help="only whether the arguments are right")
    options = parser.parse_args(arguments)
    unknown = [mark for mark in options.marks if mark not in MARKS]
    if unknown:
        parser.error(f"no mark is called {unknown[0]}; there are {', '.join(MARKS)}")
    options.marks = options.marks or MARKS
    options.extents = options.extents or ["batch=1", "sequence=128"]
    options.bin = options.bin.resolve()
    return options


def main():
    options = parse(sys.argv[1:])
    if options.check:
        return
    bench = Bench(options)
    missed = []
    for mark in options.marks:
        try:
            row, is_met = getattr(bench, mark)()
        except Failed as failure:
            row, is_met = {"error": str(failure)}, False
        emit({"bench": mark, "is_met": is_met, **row})
        if not is_met:
            missed.append(mark)
    emit({"bench": "serving", "full": options.full, "missed": missed})


if __name__ == "__main__":
    main()
