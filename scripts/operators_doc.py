#!/usr/bin/python3
"""Writes docs/operators.md: the operators that the engine knows, and for which dtypes each backend has a kernel.

    operators_doc.py [--bin build/release/bin] [--report FILE] [--check]

The list of operators comes from tensord_list_operators, the kernels from a daemon (both in --bin), and what passes from
a report of tensord_conformance. Without --report these columns stay as they are in the file. --check writes nothing,
and says what is out of date in the other columns; the exit status is then 1.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# In the order in which they are shown.
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
          "uint16", "uint32", "uint64", "bool"]
NUMBERS = DTYPES[:-1]
# Sets with a name of their own.
GROUPS = [(DTYPES, "all"), (NUMBERS, "numbers"), (NUMBERS[:4], "floats"), (NUMBERS[4:], "integers")]

HEAD = """# Operators

What tensord runs, by operator, and with which element types. Written by `scripts/operators_doc.py`: do not edit it,
run that (a test compares). The list of the kernels themselves, with file and revision, is `tensordctl kernels`.

- A *view* costs nothing: its output is its input under another shape. *Flow* runs graphs or handles sequences; tensord
  does it between two launches, with any element type.
- Types are those of an operator's first input and, where they are others, of its first output; not every combination
  need exist. *all*: float32, float64, float16, bfloat16, the eight integers of 8 to 64 bits, and bool; *numbers*: all but
  bool; *floats*: the four with fractions; *integers*: the other eight. *any*: all that ONNX has.
- Cases are those of ONNX's own test suite that have the operator as their subject, of all releases (`tensord_conformance`;
  a case may need other operators too), and the operator sets those of the cases that pass.
"""
TITLES = ["operator", "types", "operator sets", "cases"]


class Row:
    def __init__(self, kernels, opsets="", cases=""):
        self.kernels, self.opsets, self.cases = kernels, opsets, cases


def run_daemon(folder, state):
    port_file = state / "ports.json"
    process = subprocess.Popen([folder / "tensord", "--listen", f"unix:{state}/socket", "--metrics-listen",
                                "off", "--port-file", port_file, "--log-level", "error"])
    while not port_file.exists():
        if process.poll() is not None:
            sys.exit(f"operators_doc: the daemon ended with {process.returncode}")
        time.sleep(0.02)
    return process


def ask_kernels(folder):
    """Every kernel, as ListKernels tells it."""
    with tempfile.TemporaryDirectory() as state:
        daemon = run_daemon(folder, pathlib.Path(state))
        try:
            answer = subprocess.run([folder / "tensordctl", "kernels", "--address", f"unix:{state}/socket",
                                     "--json"], capture_output=True, text=True, check=True)
        finally:
            daemon.terminate()
            daemon.wait()
    return json.loads(answer.stdout)["kernels"]


def set_text(dtypes):
    """A set of dtypes, in the order of DTYPES, with the names of groups."""
    rest, words = set(dtypes), {}
    for members, name in GROUPS:
        if rest.issuperset(members):
            words[members[0]] = name
            rest.difference_update(members)
    words.update({dtype: dtype for dtype in rest})
    order = {dtype: index for index, dtype in enumerate(DTYPES)}
    return ", ".join(words[first] for first in sorted(words, key=lambda d: (order.get(d, 99), d)))


def types_text(kernels):
    """What the kernels of one operator on one backend take as their first input, and give as their first output."""
    taken, given = set(), set()
    for kernel in kernels:
        signature = kernel["dtypes"]
        if signature.get("any"):
            return "any"
        for side, dtypes in (("inputs", taken), ("outputs", given)):
            dtypes.update(dtype.lower().removeprefix("dtype_") for dtype in signature.get(side, [])[:1])
    # The kernel does not look at its elements.
    if "unspecified" in taken:
        return f"any → {set_text(given)}"
    if taken == given or not taken:
        return set_text(given)
    return f"{set_text(taken)} → {set_text(given)}"


def make_rows(folder):
    listed = subprocess.run([folder / "tensord_list_operators"], capture_output=True, text=True, check=True)
    by_op = collections.defaultdict(lambda: collections.defaultdict(list))
    for kernel in ask_kernels(folder):
        by_op[kernel["op"]][kernel["backend"]].append(kernel)
    rows = {"Constant": Row("a constant, no node")}
    for line in listed.stdout.splitlines():
        op, how = line.split("\t")
        texts = [how] if how != "kernel" else []
        for backend, kernels in sorted(by_op.get(op, {}).items()):
            if backend != "null":  # it computes nothing
                texts.append(f"{backend}: {types_text(kernels)}")
        rows[op] = Row("; ".join(texts) or "none yet")
    return rows


def ranges(numbers):
    """[7, 8, 9, 13] as "7-9, 13"."""
    words, numbers = [], sorted(numbers)
    for number in numbers:
        if words and words[-1][1] == number - 1:
            words[-1][1] = number
        else:
            words.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in words)


def add_report(rows, path):
    passed, tried, opsets = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        # A network has no subject, and an expanded case does not have its own as a node.
        if case["op"] == "(network)" or "expanded" in case["flags"]:
            continue
        tried[case["op"]] += 1
        if case["outcome"] == "passed":
            passed[case["op"]] += 1
            version = re.search(r"ai\.onnx:(\d+)", case["opset"])
            if version:
                opsets[case["op"]].add(int(version.group(1)))
    for op in set(tried) - set(rows):
        rows[op] = Row("none yet")
    for op, row in rows.items():
        row.opsets = ranges(opsets[op])
        row.cases = f"{passed[op]} of {tried[op]}" if tried[op] else ""


def table_text(rows):
    cells = [TITLES, ["---"] * len(TITLES)]
    for op in sorted(rows):
        cells.append([op, rows[op].kernels, rows[op].opsets, rows[op].cases])
    return "".join("| " + " | ".join(line) + " |\n" for line in cells)


def read_rows(path):
    rows = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
            if line.startswith("| ") and len(cells) == len(TITLES) and cells[0] not in ("operator", "---"):
                rows[cells[0]] = Row(*cells[1:])
    return rows


def stale(written, rows):
    """What the file says wrongly of operators and kernels, a line each."""
    faults = []
    for op in sorted(set(written) | set(rows)):
        there = written[op].kernels if op in written else "nothing"
        right = rows[op].kernels if op in rows else "none yet"
        if there != right:
            faults.append(f"{op}: the file says {there}; it is {right}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="folder of the daemon and the tools")
    parser.add_argument("--report", help="of tensord_conformance, over all cases")
    parser.add_argument("--doc", type=pathlib.Path, default=ROOT / "docs/operators.md", help="the file")
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    arguments = parser.parse_args()
    rows = make_rows(arguments.bin.resolve())
    written = read_rows(arguments.doc)
    if arguments.check:
        faults = stale(written, rows)
        print("\n".join(faults) or f"{arguments.doc.name} is up to date: {len(rows)} operators")
        if faults:
            sys.exit("operators_doc: run scripts/operators_doc.py and commit the file")
        return
    if arguments.report:
        add_report(rows, arguments.report)
    else:
        for op, row in written.items():
            rows.setdefault(op, Row("none yet"))
            rows[op].opsets, rows[op].cases = row.opsets, row.cases
    missing = sum(1 for row in rows.values() if row.kernels == "none yet")
    summary = f"\n{len(rows) - missing} operators are there, {missing} of those that have cases are not.\n\n"
    arguments.doc.write_text(HEAD + summary + table_text(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
