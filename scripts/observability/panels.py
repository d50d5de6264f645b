"""The dashboards' panels with their queries, the variables put in as Grafana does."""

import dataclasses
import json
import re

import check_dashboards


@dataclasses.dataclass
class Query:
    expression: str
    legend: str
    is_instant: bool


@dataclasses.dataclass
class Panel:
    dashboard: str
    json: dict
    queries: list

    @property
    def name(self):
        return f"{self.dashboard}: {self.json['title']}"


def put_in(text, values):
    """`$name` and `${name}` replaced; every variable must be among the values."""
    return re.sub(r"\$\{(\w+)\}|\$(\w+)", lambda match: values[match.group(1) or match.group(2)], text)


def variables(namespace, rate_interval, whole_range, **chosen):
    """All of everything in a namespace, except for what is chosen."""
    return {"namespace": namespace, "pod": ".*", "backend": ".*", "op": ".*",
            "__rate_interval": rate_interval, "__range": whole_range} | chosen


def read_dashboards(folder=check_dashboards.FOLDER):
    """{name: the file's JSON}."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def read_panels(dashboards, values):
    found = {}
    for name, dashboard in dashboards.items():
        for panel, target in check_dashboards.targets(dashboard):
            key = (name, panel["id"])
            found.setdefault(key, Panel(name, panel, [])).queries.append(
                Query(put_in(target["expr"], values), target.get("legendFormat", ""), target.get("instant", False)))
    return list(found.values())


def read_variable_queries(dashboards, values):
    """{(dashboard, variable): (selector, label)}."""
    found = {}
    for name, dashboard in dashboards.items():
        for variable in dashboard["templating"]["list"]:
            match = re.fullmatch(r"label_values\((.*), (\w+)\)", str(variable.get("query")), re.DOTALL)
            if match is not None:
                found[name, variable["name"]] = (put_in(match.group(1), values), match.group(2))
    return found
