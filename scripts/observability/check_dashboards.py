#!/usr/bin/python3
"""Checks deploy/grafana/dashboards/*.json: what Grafana would show as an empty or a wrong panel without an error.

    check_dashboards.py [FOLDER]

One line for each fault; exit status 1 if there is any.
"""

import itertools
import json
import pathlib
import re
import sys

import metric_names
import promql

FOLDER = metric_names.ROOT / "deploy/grafana/dashboards"
COLUMNS = 24
# Of Grafana's units those that fit base units: a metric in seconds is shown in "s".
UNITS = {"none", "short", "s", "bytes", "Bps", "reqps", "ops", "percentunit", "bool_yes_no"}
BUILT_IN = {"__rate_interval", "__range", "__interval"}
SOURCE = "${datasource}"
_VARIABLE = re.compile(r"\$\{?(\w+)")


def _variables_in(text):
    return set(_VARIABLE.findall(text))


def _panels(dashboard):
    """Panels that show something, those of collapsed rows included."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel.get("panels", [])
        else:
            yield panel


def targets(dashboard):
    """(panel, target) of every query."""
    for panel in _panels(dashboard):
        for target in panel.get("targets", []):
            yield panel, target


def _check_places(dashboard):
    panels = [*_panels(dashboard), *(panel for panel in dashboard["panels"] if panel["type"] == "row")]
    ids = [panel["id"] for panel in panels]
    for repeated in sorted({i for i in ids if ids.count(i) > 1}):
        yield f"id {repeated} is given {ids.count(repeated)} times"
    for panel in panels:
        place = panel["gridPos"]
        if place["x"] < 0 or place["w"] <= 0 or place["x"] + place["w"] > COLUMNS:
            yield f"panel '{panel['title']}' is outside the {COLUMNS} columns"
    for a, b in itertools.combinations(panels, 2):
        p, q = a["gridPos"], b["gridPos"]
        if (p["x"] < q["x"] + q["w"] and q["x"] < p["x"] + p["w"] and
                p["y"] < q["y"] + q["h"] and q["y"] < p["y"] + p["h"]):
            yield f"panels '{a['title']}' and '{b['title']}' overlap"


def _check_texts(panel):
    if len(panel.get("title", "").split()) < 3:
        yield "the title is neither a question nor a claim"
    if len(panel.get("description", "").split()) < 5:
        yield "no description"
    config = panel.get("fieldConfig", {})
    units = [config.get("defaults", {}).get("unit")]
    units += [entry["value"] for override in config.get("overrides", []) for entry in override["properties"]
              if entry["id"] == "unit"]
    for unit in units:
        if unit is None:
            yield "no unit"
        elif unit not in UNITS:
            yield f"unknown unit {unit}"


def _check_source(thing, what):
    source = thing.get("datasource") or {}
    if source.get("type") != "prometheus" or source.get("uid") != SOURCE:
        yield f"{what} has the data source {source.get('uid')}, not {SOURCE}"


def _check_expression(text, legend, unit, series):
    try:
        expression = promql.parse(text)
    except promql.SyntaxFault as fault:
        yield str(fault)
        return
    for selector in expression.selectors:
        yield from metric_names.selector_faults(selector, series)
        if "le" in selector.matchers:
            yield f"the bucket edge {selector.matchers['le']} is hard-coded"
    for sum_ in promql.added_constants(expression):
        yield f"a constant is added: {sum_}"
    names = [selector.metric for selector in expression.selectors]
    # What follows "and" chooses among series; its values are not shown.
    shown = promql.parse(re.split(r"\band\b", text)[0])
    if (unit == "s" and any(selector.metric.endswith("_sum") for selector in shown.selectors) and
            ("operator", "/") not in shown.tokens):
        yield "a sum of seconds without a division is busy time, not latency"
    if any(name.endswith("_bucket") for name in names) and "le" not in expression.labels:
        yield "buckets are added up over le"
    for label in re.findall(r"\{\{(\w+)\}\}", legend):
        if label not in expression.labels:
            yield f"the legend shows {label}, which the query does not keep"


def _check_variables(dashboard, series):
    defined = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    used = set()
    for panel, target in targets(dashboard):
        found = _variables_in(target["expr"]) - BUILT_IN
        for name in sorted(found - set(defined)):
            yield f"panel '{panel['title']}': variable ${name} is not defined"
        used |= found
    for name, variable in defined.items():
        if variable["type"] == "datasource":
            if variable["query"] != "prometheus":
                yield f"variable ${name} chooses among data sources of type {variable['query']}"
            continue
        yield from _check_source(variable, f"variable ${name}")
        query = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"], re.DOTALL)
        if query is None:
            yield f"variable ${name}: the query is not label_values(series, label)"
            continue
        for other in sorted(_variables_in(query.group(1)) - set(defined)):
            yield f"variable ${name}: variable ${other} is not defined"
        used |= _variables_in(query.group(1))
        for selector in promql.parse(query.group(1)).selectors:
            metric = series.get(selector.metric)
            if metric is None:
                yield f"variable ${name}: metric {selector.metric} does not exist"
            elif query.group(2) not in {*metric.labels, *metric_names.TARGET_LABELS}:
                yield f"variable ${name}: {selector.metric} has no label {query.group(2)}"
    if "datasource" not in defined:
        yield "variable $datasource is not defined"
    for name in sorted(set(defined) - used - {"datasource"}):
        yield f"variable ${name} changes nothing"


def check(dashboard, series):
    """Of one dashboard: its faults, as texts."""
    yield from _check_places(dashboard)
    yield from _check_variables(dashboard, series)
    for panel in _panels(dashboard):
        where = f"panel '{panel.get('title', panel['id'])}'"
        faults = [*_check_texts(panel), *_check_source(panel, "it")]
        refs = [target["refId"] for target in panel.get("targets", [])]
        if not refs:
            faults.append("no query")
        if len(refs) != len(set(refs)):
            faults.append("two queries have one refId")
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit")
        for target in panel.get("targets", []):
            faults += _check_source(target, f"query {target['refId']}")
            faults += _check_expression(target["expr"], target.get("legendFormat", ""), unit, series)
        yield from (f"{where}: {fault}" for fault in faults)


def check_folder(folder, series):
    uids = {}
    for path in sorted(folder.glob("*.json")):
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        if dashboard["uid"] in uids:
            yield f"{path.name}: uid {dashboard['uid']} is {uids[dashboard['uid']]}'s"
        uids[dashboard["uid"]] = path.name
        yield from (f"{path.name}: {fault}" for fault in check(dashboard, series))
    if not uids:
        yield f"{folder}: no dashboards"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    faults = list(check_folder(folder, metric_names.series_of(metric_names.read_metrics())))
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
