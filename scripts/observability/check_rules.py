#!/usr/bin/python3
"""Checks deploy/prometheus beyond what promtool knows: metrics, bucket edges, runbooks, a test for each alert.

    check_rules.py [FOLDER [OPERATIONS.md]]

One line for each fault; exit status 1 if there is any.
"""

import pathlib
import re
import sys

import yaml

import metric_names
import promql

FOLDER = metric_names.ROOT / "deploy/prometheus"
RUNBOOKS = metric_names.ROOT / "docs/operations.md"
SEVERITIES = {"page", "ticket"}


def anchors(markdown):
    """{anchor: text below it} of a page's headings, as GitHub names them."""
    parts = re.split(r"^#+ +(.*)$", markdown, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"): body.strip()
            for title, body in zip(parts[1::2], parts[2::2])}


def _rules(folder):
    for path in sorted((folder / "rules").glob("*.yml")):
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            yield from group["rules"]


def _tested_alerts(folder):
    """Names of the alerts that some test expects to fire."""
    fired = set()
    for path in (folder / "tests").glob("*.yml"):
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            fired |= {case["alertname"] for case in test.get("alert_rule_test", []) if case.get("exp_alerts")}
            for case in test.get("promql_expr_test", []):
                if case["exp_samples"]:
                    fired |= set(re.findall(r'ALERTS\{alertname="(\w+)", alertstate="firing"', case["expr"]))
    return fired


def _expression_faults(text, series, recorded, edges):
    try:
        expression = promql.parse(text)
    except promql.SyntaxFault as fault:
        yield str(fault)
        return
    for selector in expression.selectors:
        if ":" in selector.metric:
            if selector.metric not in recorded:
                yield f"{selector.metric} is not recorded"
            continue
        yield from metric_names.selector_faults(selector, series)
        edge = selector.matchers.get("le")
        if edge is not None and edge != "+Inf" and float(edge) not in edges:
            yield f"{edge} is no edge of the histogram"
    for constant in promql.added_constants(expression):
        yield f"a constant is added: {constant}"


def _alert_faults(rule, paragraphs, tested):
    name = rule["alert"]
    if rule.get("labels", {}).get("severity") not in SEVERITIES:
        yield f"its severity is none of {', '.join(sorted(SEVERITIES))}"
    for key in ("summary", "description"):
        if not rule.get("annotations", {}).get(key):
            yield f"no {key}"
    runbook = rule.get("annotations", {}).get("runbook", "")
    if runbook != f"docs/operations.md#{name.lower()}":
        yield f"its runbook is '{runbook}', not docs/operations.md#{name.lower()}"
    elif len(paragraphs.get(name.lower(), "").split()) < 15:
        yield "docs/operations.md has no paragraph for it"
    if name not in tested:
        yield "no test expects it to fire"


def check(folder, markdown, series, edges):
    rules = list(_rules(folder))
    recorded = {rule["record"] for rule in rules if "record" in rule}
    names = [rule.get("alert") or rule["record"] for rule in rules]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: there are {names.count(name)} of it"
    paragraphs = anchors(markdown)
    tested = _tested_alerts(folder)
    for rule, name in zip(rules, names):
        faults = list(_expression_faults(rule["expr"], series, recorded, edges))
        if "alert" in rule:
            faults += _alert_faults(rule, paragraphs, tested)
        yield from (f"{name}: {fault}" for fault in faults)
    alerts = {rule["alert"].lower() for rule in rules if "alert" in rule}
    for anchor in sorted(anchor for anchor in paragraphs if anchor.startswith("tensord") and anchor not in alerts):
        if re.fullmatch(r"tensord\w+", anchor):
            yield f"docs/operations.md has a paragraph {anchor}, and there is no such alert"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    runbooks = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else RUNBOOKS
    faults = list(check(folder, runbooks.read_text(encoding="utf-8"),
                        metric_names.series_of(metric_names.read_metrics()), set(metric_names.read_duration_edges())))
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
