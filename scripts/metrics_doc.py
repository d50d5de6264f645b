#!/usr/bin/python3
"""Writes docs/metrics.md: every metric of the daemon, what it is, why one looks at it, and a query that reads it.

    metrics_doc.py [--bin build/release/bin] [--doc FILE] [--check]

All of it comes from server/metrics/metric_names.h, by way of tensord_list_metrics (in --bin). --check writes nothing and
says what is out of date; the exit status is then 1.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

HEAD = """# Metrics

What `http://127.0.0.1:9464/metrics` shows (`--metrics-listen`). Written by `scripts/metrics_doc.py` from
`server/metrics/metric_names.h`: do not edit it, run that (a test compares).

- Units are seconds and bytes. Histograms of durations have 16 edges from 100 ns to 60 s, those of sizes have edges of bytes;
  edges never change, so quantiles may be taken over daemons and releases.
- A series is made on first use and stays. There are at most 12,000; beyond, operators and kernels are added up under
  `other` (`tensord_metrics_folded_rows`). No label value comes from a client.
- **Two times of an operator.** *Host* time is what its launch took on the thread that made it: on a CPU that is the work; where
  a launch only enqueues it is the enqueue. *Device* time is by the device's clock, where there is one. Neither is the other's part.
- **Counts are exact, times are samples.** With `--op-profile sampled`, the default, one execution in `--op-profile-sample-every` is
  timed. So a share of time is mean times launches, and not a rate of `_sum`:

      sum by (op) (rate(tensord_op_host_duration_seconds_sum[5m])) / sum by (op) (rate(tensord_op_host_duration_seconds_count[5m]))
        * sum by (op) (rate(tensord_op_launches_total{op!="program_replay"}[5m]))

- Quantiles of a histogram are read with `histogram_quantile` over `rate(..._bucket)`, and errors are divided by all; an answer that
  is missing since nothing happened stays missing.

"""
TITLES = ["metric", "type", "labels"]


def read_metrics(folder):
    listed = subprocess.run([folder / "tensord_list_metrics"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)


def code_list(labels):
    return ", ".join(f"`{label}`" for label in labels)


def section(metric):
    facts = f"{metric['type'].capitalize()}, {metric['unit']}"
    if metric["labels"]:
        facts += f", by {code_list(metric['labels'])}"
    return (f"## {metric['name']}\n\n{facts}. {metric['help']}\n\n*Why:* {metric['why']}\n\n"
            f"    {metric['query']}\n\n")


def make_doc(metrics):
    lines = [TITLES, ["---"] * len(TITLES)]
    for metric in metrics:
        lines.append([f"[{metric['name']}](#{metric['name']})", metric["type"], code_list(metric["labels"])])
    table = "".join("| " + " | ".join(line).rstrip() + " |\n" for line in lines)
    return HEAD + table + "\n" + "".join(section(metric) for metric in metrics).rstrip("\n") + "\n"


def sections(text):
    """The text of each metric's section by its name; all before the first is by ""."""
    parts = re.split(r"^## (\S+)\n", text, flags=re.MULTILINE)
    return {"": parts[0].strip(), **{name: body.strip() for name, body in zip(parts[1::2], parts[2::2])}}


def stale(written, right):
    """What is out of date, a line each."""
    there, wanted = sections(written), sections(right)
    faults = []
    for name in sorted(set(there) | set(wanted)):
        if there.get(name) == wanted.get(name):
            continue
        fault = "is missing" if name not in there else "is no metric" if name not in wanted else "is out of date"
        faults.append(f"{name or 'the head'}: {fault}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="folder of tensord_list_metrics")
    parser.add_argument("--doc", type=pathlib.Path, default=ROOT / "docs/metrics.md", help="the file")
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    arguments = parser.parse_args()
    metrics = read_metrics(arguments.bin.resolve())
    right = make_doc(metrics)
    if not arguments.check:
        arguments.doc.write_text(right, encoding="utf-8")
        return
    written = arguments.doc.read_text(encoding="utf-8") if arguments.doc.exists() else ""
    faults = stale(written, right)
    print("\n".join(faults) or f"{arguments.doc.name} is up to date: {len(metrics)} metrics")
    if faults:
        sys.exit("metrics_doc: run scripts/metrics_doc.py and commit the file")


if __name__ == "__main__":
    main()
