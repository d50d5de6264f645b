"""A metrics page as a daemon with two GPUs would have it, made up from server/metrics/metric_names.h.

What a CPU does not have (device times, transfers, replays) has series here, so that every query of a dashboard has something
to answer. Counters grow with the time. Values mean nothing.
"""

import itertools
import math

import metric_names

_CALLS = [("tensord.v1.ExecutionService", "Execute"), ("inference.GRPCInferenceService", "ModelInfer"),
          ("tensord.v1.GraphService", "SubmitGraph"), ("tensord.v1.ExecutionService", "ExecuteStream")]
# Values of each label; a label that is not here gets its own name.
_VALUES = {
    "op": ["Conv", "MatMul", "Softmax", "program_replay"],
    "backend": ["cuda"],
    "device": ["cuda:0", "cuda:1"],
    "dtype": ["float32"],
    "code": ["OK", "INTERNAL"],
    "state": ["succeeded", "failed", "cancelled", "expired"],
    "reason": ["queue_full", "queue_bytes", "queue_timeout", "memory", "no_device", "quota"],
    "kind": ["limit", "used", "weights"],
    "direction": ["upload", "download", "peer"],
    "outcome": ["faster", "kept", "skipped", "failed"],
}
_PHASES = {"tensord_compile_duration_seconds": ["load", "plan", "prepare"]}
_RUN_PHASES = ["decode", "queue", "compile", "upload", "run", "wait", "download", "encode"]
_GAUGES = {"limit": 1e11, "used": 6e10, "weights": 2e10}


def _label_sets(metric):
    values = dict(_VALUES, phase=_PHASES.get(metric.name, _RUN_PHASES))
    labels = [label for label in metric.labels if label not in ("service", "method")]
    rows = [dict(zip(labels, row)) for row in itertools.product(*(values.get(label, [label]) for label in labels))]
    if "method" in metric.labels:
        rows = [{"service": service, "method": method, **row} for service, method in _CALLS for row in rows]
    return rows


def _edges(metric):
    if metric.unit == "seconds":
        return metric_names.read_duration_edges()
    return [64.0 * 4 ** i for i in range(16)] if metric.unit == "bytes" else [float(2 ** i) for i in range(10)]


def _lines(metric, index, labels, seconds):
    """One row. `index` makes rows differ."""
    text = ",".join(f'{name}="{value}"' for name, value in labels.items())
    speed = 10.0 * (1 + index % 7)
    if metric.type == "counter":
        # Failures are few, or the alerts would be about them.
        rare = labels.get("code") == "INTERNAL" or metric.name.endswith(("errors_total", "faults_total", "disagreements_total"))
        yield f"{metric.name}{{{text}}} {0.0 if rare else speed * seconds}"
    elif metric.type == "gauge":
        yield f"{metric.name}{{{text}}} {_GAUGES.get(labels.get('kind'), 1.0)}"
    else:
        edges = _edges(metric)
        middle = math.log(edges[len(edges) // 2 - index % 3])
        for edge in [*edges, math.inf]:
            share = 1 if edge == math.inf else 1 / (1 + math.exp(middle - math.log(edge)))
            le = "+Inf" if edge == math.inf else f"{edge:g}"
            yield f'{metric.name}_bucket{{{text}{"," if text else ""}le="{le}"}} {math.floor(share * speed * seconds)}'
        yield f"{metric.name}_sum{{{text}}} {math.exp(middle) * speed * seconds}"
        yield f"{metric.name}_count{{{text}}} {math.floor(speed * seconds)}"


def page(metrics, seconds):
    lines = []
    for metric in metrics.values():
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.type}"]
        for index, labels in enumerate(_label_sets(metric)):
            lines += _lines(metric, index, labels, seconds)
    return "\n".join(lines) + "\n"
