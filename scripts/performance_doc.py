#!/usr/bin/python3
"""Writes the tables of docs/performance.md from the lines of a run of scripts/bench.sh models.

    performance_doc.py LINES.jsonl [--doc docs/performance.md]

What stands between the two comments that name this script is replaced; the words around it are people's.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN = "<!-- Written by scripts/performance_doc.py: do not edit. -->"
END = "<!-- End of what scripts/performance_doc.py writes. -->"
IDLE_ENOUGH = 0.93  # as bench_models.py has it
WORDS = {1: "One thread", 2: "Two threads"}


def digits(value, count=3):
    """At least so many digits: 0.00712, 1.14, 88.4, 1240."""
    if value is None:
        return ""
    places = 0
    while value and abs(value) * 10 ** places < 10 ** (count - 1):
        places += 1
    return f"{value:.{places}f}"


def cpu_ratio(row):
    """Of CPU times, which other work on the machine disturbs less; of one thread only, since waiting threads spin."""
    if row["threads"] != 1 or "peer_cpu_ms" not in row:
        return None
    return row["engine_cpu_ms"] / row["peer_cpu_ms"]


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |",
             "| " + " | ".join(["---"] + ["---:"] * (len(titles) - 1)) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def model_row(row, has_details):
    name = row["model"] + (" (disturbed)" if row.get("disturbed") else "")
    if "error" in row:
        return [name, row["error"].replace("|", "\\|")]
    cells = [name, digits(row["engine_ms"]), digits(row.get("peer_ms")), digits(row.get("ratio")),
             digits(row.get("unix_ms")), digits(row.get("tcp_ms"))]
    if has_details:
        cells += [digits(cpu_ratio(row)), digits(row["engine_peak_mb"]), digits(row.get("daemon_peak_mb")),
                  digits(row.get("peer_peak_mb")),
                  f"{row['nodes']} ({row['computing_nodes']})", str(row["launches"])]
    return cells


def section(rows, threads, last):
    """All tables of one thread count."""
    titles = ["model", "engine ms", "peer ms", "ratio", "unix ms", "TCP ms"]
    # Memory and nodes do not depend on it.
    has_details = threads == 1
    if has_details:
        titles += ["CPU ratio", "engine MB", "daemon MB", "peer MB", "nodes", "launches"]
    parts = [f"## {WORDS.get(threads, f'{threads} threads')}"]
    mean = last["geomean_engine_over_peer"].get(str(threads))
    if mean is not None:
        less = last["geomean_engine_over_peer_less_binding"][str(threads)]
        parts.append(f"Geometric mean of the ratios of the first table: **{digits(mean)}** "
                     f"({digits(less)} with the binding's cost taken off the peer's times).")
    mine = [row for row in rows if row["threads"] == threads]
    for is_counted in (True, False):
        chosen = [model_row(row, has_details) for row in mine if row.get("counted", False) == is_counted]
        if chosen:
            parts.append(table(titles, chosen))
    return "\n\n".join(parts)


def tables(lines):
    machine = next(row for row in lines if row["bench"] == "machine")
    last = next(row for row in lines if row["bench"] == "models")
    rows = [row for row in lines if row["bench"] == "model"]
    parts = [f"{machine['cpu']}, {machine['cores']} cores; tensord {machine['revision']}; "
             f"{(machine['peer'] or 'no peer').replace('==', ' ')}; {machine['rounds']} processes of each, "
             f"{machine['seconds']} s each."]
    if machine["idle"] < IDLE_ENOUGH:
        parts.append(f"**The machine did other work meanwhile** ({100 * machine['idle']:.0f} % of its cores' time was idle at "
                     "the start): the times are too long, and of the ratios the one of CPU times says more.")
    if last["missing"]:
        parts.append("Not measured: " + ", ".join(last["missing"]) + ".")
    parts += [section(rows, threads, last) for threads in sorted({row["threads"] for row in rows})]
    return "\n\n".join(parts)


def replaced(text, written):
    """The document with new text between the two comments."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"performance_doc: the document has not '{BEGIN}' and, behind it, '{END}', each once")
    return text[:text.index(BEGIN)] + f"{BEGIN}\n\n{written}\n\n" + text[text.index(END):]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("lines", type=pathlib.Path, help="what scripts/bench.sh models printed")
    parser.add_argument("--doc", type=pathlib.Path, default=ROOT / "docs/performance.md")
    arguments = parser.parse_args()
    lines = [json.loads(line) for line in arguments.lines.read_text(encoding="utf-8").splitlines()]
    if not lines or lines[-1].get("bench") != "models":
        sys.exit(f"performance_doc: {arguments.lines} does not end with the line of a whole run")
    text = arguments.doc.read_text(encoding="utf-8")
    arguments.doc.write_text(replaced(text, tables(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
