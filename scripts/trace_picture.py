#!/usr/bin/python3
"""Draws a trace that tensordctl wrote (run --trace-file, trace --output) as a picture.

    trace_picture.py TRACE.json PICTURE.png [--title TEXT]

Perfetto shows more and lets one look closer; this is for pages. Needs matplotlib.
"""

import argparse
import collections
import json
import pathlib

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

# A name is written into a slice that has room for it: shares of the width of the picture.
MARGIN_SHARE, LETTER_SHARE = 0.008, 0.0075
# Operators of their own colour; the others share one.
MAX_COLOURS = 9


def read_rows(events):
    """[(title of the row, its slices)], from top to bottom."""
    names = {}
    for event in events:
        if event["ph"] == "M":
            key = (event["pid"], event["tid"]) if event["name"] == "thread_name" else event["pid"]
            names[key] = event["args"]["name"]
    rows = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append(event)
    return [(f"{names[pid]}\n{names[pid, tid]}", rows[pid, tid]) for pid, tid in sorted(rows)]


PHASE_COLOURS = ["#c9d3df", "#e6ebf1"]


def label_of(event):
    """Slices of one operator have one colour."""
    return event.get("args", {}).get("op", event["name"])


def colours_of(rows):
    times = collections.Counter()
    for _, events in rows:
        for event in events:
            if "args" in event:
                times[label_of(event)] += event["dur"]
    palette = pyplot.get_cmap("Set2").colors + pyplot.get_cmap("Set1").colors
    longest = [label for label, _ in times.most_common(MAX_COLOURS)]
    return {label: palette[index] for index, label in enumerate(longest)}


def draw(trace, title, path):
    rows = read_rows(trace["traceEvents"])
    colours = colours_of(rows)
    begin = min(event["ts"] for _, events in rows for event in events)
    end = max(event["ts"] + event["dur"] for _, events in rows for event in events)
    unit, scale = ("ms", 1e3) if end - begin > 2000 else ("us", 1.0)
    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.9 * len(rows)), dpi=110)
    shown = {}
    for place, (_, events) in enumerate(rows):
        for index, event in enumerate(events):
            label = label_of(event)
            is_phase = "args" not in event
            colour = PHASE_COLOURS[index % 2] if is_phase else colours.get(label, "#999999")
            left, width = (event["ts"] - begin) / scale, event["dur"] / scale
            bar = axes.barh(place, width, left=left, height=0.7, color=colour, edgecolor="white", linewidth=0.3)
            if not is_phase:
                shown.setdefault(label if label in colours else "others", bar)
            if event["dur"] > (MARGIN_SHARE + len(label) * LETTER_SHARE) * (end - begin):
                axes.text(left + width / 2, place, label, ha="center", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, (end - begin) / scale)
    axes.set_xlabel(f"{unit} since the request's first byte was read")
    axes.set_title(title, fontsize=10, loc="left")
    names = list(shown)[:MAX_COLOURS]
    axes.legend([shown[name] for name in names], names, ncol=min(9, len(names)), fontsize=7, frameon=False,
                loc="upper center", bbox_to_anchor=(0.5, -0.3))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("trace", type=pathlib.Path, help="the file that tensordctl wrote")
    parser.add_argument("picture", type=pathlib.Path, help="PNG or SVG")
    parser.add_argument("--title", default="", help="above the picture")
    arguments = parser.parse_args()
    trace = json.loads(arguments.trace.read_text(encoding="utf-8"))
    about = trace["otherData"]
    title = arguments.title or f"Run {about['execution_id']} on {about['device']}"
    draw(trace, title, arguments.picture)


if __name__ == "__main__":
    main()
