"""What server/metrics/metric_names.h and engine/profile/duration_buckets.h say, for checks and for pages made up."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "server/metrics/metric_names.h"
DURATIONS = ROOT / "engine/profile/duration_buckets.h"

# What a scrape adds to every series (deploy/prometheus/prometheus.yml).
TARGET_LABELS = {"namespace", "pod", "job", "instance"}


@dataclasses.dataclass
class Metric:
    name: str
    type: str    # "counter", "gauge", "histogram"
    unit: str
    labels: list
    help: str
    query: str   # that the list itself gives for reading it


_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(\w+)|([,)]))')


def _arguments(text, at):
    """Of a macro's call that opens before `at`: its arguments, literals that stand beside each other as one."""
    arguments = [""]
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at:at + 40]!r} is no argument of a row")
        at = match.end()
        literal, word, mark = match.groups()
        if mark == ")":
            return arguments
        if mark == ",":
            arguments.append("")
        else:
            arguments[-1] += word if literal is None else literal.replace('\\"', '"')


def read_metrics(path=HEADER):
    """{name: Metric}, in the header's order."""
    text = path.read_text(encoding="utf-8").replace("\\\n", "\n")
    metrics = {}
    for row in re.finditer(r"\bX\((?=\s*k\w+,)", text):
        _, name, kind, unit, labels, help_, *_, query = _arguments(text, row.end())
        metrics[name] = Metric(name, kind[1:].lower(), unit, labels.split(",") if labels else [], help_, query)
    return metrics


def read_duration_edges(path=DURATIONS):
    """Upper edges in seconds."""
    text = path.read_text(encoding="utf-8")
    body = re.search(r"kDurationEdgesNs = \{([^}]*)\}", text).group(1)
    return [int(edge.replace("'", "")) / 1e9 for edge in body.split(",")]


def series_of(metrics):
    """{name of a series: its Metric}: a histogram has three, and none of its own name."""
    series = {}
    for metric in metrics.values():
        suffixes = ["_bucket", "_sum", "_count"] if metric.type == "histogram" else [""]
        series |= {metric.name + suffix: metric for suffix in suffixes}
    return series


def is_counter(series, metric):
    return metric.type == "counter" or (metric.type == "histogram" and series != metric.name)


def selector_faults(selector, series):
    """What is wrong with one use of a metric, as texts."""
    if selector.metric == "up":
        return []
    if selector.metric == "ALERTS":
        return []
    if selector.metric not in series:
        return [f"metric {selector.metric} does not exist"]
    metric = series[selector.metric]
    faults = []
    known = {*metric.labels, *TARGET_LABELS, *(["le"] if selector.metric.endswith("_bucket") else [])}
    for label in selector.matchers:
        if label not in known:
            faults.append(f"{selector.metric} has no label {label}")
    if is_counter(selector.metric, metric) and selector.function not in ("rate", "increase"):
        faults.append(f"counter {selector.metric} without rate() or increase()")
    if not is_counter(selector.metric, metric) and selector.function in ("rate", "increase"):
        faults.append(f"{selector.function}() of {selector.metric}, which is no counter")
    return faults
