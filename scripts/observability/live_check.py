#!/usr/bin/python3
"""Asks a real Prometheus, which scrapes a real daemon under load, every query of every panel and every rule.

    live_check.py [--bin build/release/bin] [--seconds 40] [--pictures FOLDER]
    live_check.py --recorded FILE [--pictures FOLDER]

Fails on an error, on an empty answer that has no reason (ABSENT below), on an alert that fires, and where Prometheus' values are
not the daemon's own, as tensordctl profile tells them. A second target is a page made up as a GPU's daemon would have it:
on that no query may be empty. --pictures draws what the dashboards would show, a PNG for each.

--recorded plays what record_pages.py wrote on another machine, instead of all that: its panels are asked, and may be empty.
"""

import argparse
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

import load as load_maker
import made_up_page
import metric_names
import page_server
import panels
import prometheus_process
import promql
import values

sys.path.insert(0, str(metric_names.ROOT / "scripts"))
import daemon_process

REAL, MADE_UP, RECORDED = "real", "made-up", "recorded"
# Series that a daemon on a CPU rightly lacks. Only a query that needs one of them may be empty, and only while it is so: a
# reason whose series are there after all is a fault.
ABSENT = {
    "tensord_op_device_duration_seconds": "a CPU has no clock of its own",
    "tensord_transfer_bytes_total": "a CPU computes in the host's memory and copies nothing",
    'tensord_op_launches_total{op="program_replay"}': "a CPU records no programs",
    'ALERTS{alertstate="firing"}': "no alert fires",
}
# The same for series that come with luck: these may be there.
RARE = {"tensord_batch_size": "no two requests came close enough to share a run"}
RATE_INTERVAL = "10s"
STEP = 1


def is_answer(points):
    return any(math.isfinite(value) for value in points)


class Checker:
    def __init__(self, prometheus, start, end):
        self.prometheus, self.start, self.end = prometheus, start, end
        self.faults, self.query_count, self.reasons_used = [], 0, set()

    def fail(self, text):
        self.faults.append(text)
        print(f"FAULT: {text}", flush=True)

    def ask(self, query):
        """[(labels, points)] of one query over the time of the load, or at its end."""
        self.query_count += 1
        if query.is_instant:
            return [(labels, [(self.end, value)])
                    for labels, value in self.prometheus.query(query.expression, self.end)]
        return self.prometheus.query_range(query.expression, self.start, self.end, STEP)

    def reason_for_nothing(self, expression, namespace):
        """Why an answer may be empty, or None."""
        for selector in promql.parse(expression).selectors:
            for absent, reason in (ABSENT | RARE).items():
                wanted = promql.parse(absent).selectors[0]
                if (selector.metric.startswith(wanted.metric) and
                        wanted.matchers.items() <= selector.matchers.items()):
                    matchers = "".join(f', {name}="{value}"' for name, value in wanted.matchers.items())
                    if not self.prometheus.query(f'{selector.metric}{{namespace="{namespace}"{matchers}}}', self.end):
                        self.reasons_used.add(absent)
                        return reason
        return None

    def panel(self, panel, namespace):
        """Asks a panel's queries; the answers."""
        answers = []
        for query in panel.queries:
            try:
                answer = self.ask(query)
            except prometheus_process.Failed as failure:
                self.fail(f"{namespace}: {panel.name}: {failure}")
                continue
            if not any(is_answer([value for _, value in points]) for _, points in answer):
                reason = self.reason_for_nothing(query.expression, namespace)
                if reason is None or (namespace == MADE_UP and "ALERTS" not in query.expression):
                    self.fail(f"{namespace}: {panel.name}: empty: {query.expression}")
                answers.append((query, [], reason))
            else:
                answers.append((query, answer, None))
        return answers

    def variable(self, name, selector, label):
        self.query_count += 1
        if not self.prometheus.label_values(label, selector):
            self.fail(f"{name}: no choice: label_values({selector}, {label})")

    def rules(self):
        for rule in self.prometheus.rules():
            self.query_count += 1
            if rule["health"] != "ok":
                self.fail(f"rule {rule['name']}: {rule['health']} {rule.get('lastError', '')}")
            if rule["type"] == "recording":
                self.recording(rule)
            else:
                self.alert(rule)

    def metric(self, metric):
        """The query that the list of metrics gives for one. Those that compare are rightly empty while all is well."""
        self.query_count += 1
        try:
            answer = self.prometheus.query(metric.query, self.end)
        except prometheus_process.Failed as failure:
            self.fail(f"metric {metric.name}: {failure}")
            return
        compares = any(text in (">", "<", ">=", "<=", "==", "!=") for kind, text in promql.tokens(metric.query))
        if not compares and not is_answer([value for _, value in answer]):
            self.fail(f"metric {metric.name}: empty: {metric.query}")

    def recording(self, rule):
        for namespace in (REAL, MADE_UP):
            answer = self.prometheus.query(f'{rule["name"]}{{namespace="{namespace}"}}', self.end)
            if not is_answer([value for _, value in answer]):
                if namespace == MADE_UP or self.reason_for_nothing(rule["query"], namespace) is None:
                    self.fail(f"{namespace}: rule {rule['name']}: empty")

    def alert(self, rule):
        if rule["state"] == "firing":
            self.fail(f"alert {rule['name']} fires: {rule['alerts']}")
        # Its answer is rightly empty. That of each of its parts is not: else it could never fire.
        for selector in promql.parse(rule["query"]).selectors:
            matchers = ", ".join(f'{name}="{value}"' for name, value in selector.matchers.items())
            if not self.prometheus.query(f"{selector.metric}{{{matchers}}}", self.end):
                self.fail(f"alert {rule['name']}: there is no {selector.metric}{{{matchers}}}")

    def stale_reasons(self):
        for absent in set(ABSENT) - self.reasons_used:
            self.fail(f"{absent} is there after all, or nothing needs it: '{ABSENT[absent]}' is no reason")


def check_page(checker, address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        page = answer.read()
    outcome = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, check=False)
    if outcome.returncode != 0:
        checker.fail(f"promtool check metrics: {outcome.stdout.decode()}{outcome.stderr.decode()}")


def await_scrapes(prometheus, count=2):
    """Until every target has been scraped `count` more times, so that Prometheus has what the daemon had at the call."""
    deadline = time.monotonic() + 30
    seen = {}
    while time.monotonic() < deadline:
        for target in prometheus.targets():
            seen.setdefault(target["scrapeUrl"], set()).add(target["lastScrape"])
        if seen and all(len(times) > count for times in seen.values()):
            return
        time.sleep(0.2)
    raise prometheus_process.Failed("the targets are not scraped")


def ask_panels(checker, dashboards, namespace, **chosen):
    """Asks all panels of a namespace; {dashboard: {panel's id: answers}}."""
    whole_range = f"{max(1, round(checker.end - checker.start))}s"
    answers = {}
    for panel in panels.read_panels(dashboards, panels.variables(namespace, RATE_INTERVAL, whole_range, **chosen)):
        answers.setdefault(panel.dashboard, {})[panel.json["id"]] = checker.panel(panel, namespace)
    return answers


def draw_pictures(checker, dashboards, answers, folder):
    if folder is not None:
        import draw  # matplotlib is a second, and not everywhere
        draw.draw_all(dashboards, answers, checker.start, checker.end, folder)


def check_all(checker, daemon, load, counts, options):
    dashboards = panels.read_dashboards()
    answers = ask_panels(checker, dashboards, REAL)
    ask_panels(checker, dashboards, MADE_UP)
    # One operator on two backends, as a viewer would choose them.
    ask_panels(checker, dashboards, REAL, backend="(cpu|null)", op="Conv", pod="tensord-0")
    for namespace in (REAL, MADE_UP):
        chosen = panels.variables(namespace, RATE_INTERVAL, RATE_INTERVAL)
        for name, (selector, label) in panels.read_variable_queries(dashboards, chosen).items():
            checker.variable(f"{namespace}: {' $'.join(name)}", selector, label)
    for metric in metric_names.read_metrics().values():
        checker.metric(metric)
    checker.rules()
    checker.stale_reasons()
    check_page(checker, daemon.metrics_address)
    profile = json.loads(load.command("profile", "--kernels", "--json"))
    for fault in values.compare(checker.prometheus, REAL, profile, *counts):
        checker.fail(fault)
    draw_pictures(checker, dashboards, answers, options.pictures)


def run(options):
    metrics = metric_names.read_metrics()
    with tempfile.TemporaryDirectory() as folder, page_server.PageServer(
            lambda seconds: made_up_page.page(metrics, seconds)) as made_up, daemon_process.Daemon(
                options.bin, ["--devices", "cpu:0,null:0", "--tuning", "--op-profile-sample-every", "8"],
                has_metrics=True) as daemon:
        folder = pathlib.Path(folder)
        config = prometheus_process.write_config(folder, {
            daemon.metrics_address: (REAL, "tensord-0"), made_up.address: (MADE_UP, "tensord-gpu")})
        with prometheus_process.Prometheus(config, folder) as prometheus:
            # The first scrapes, before any call: rates need a value from before the first one.
            await_scrapes(prometheus)
            load = load_maker.Load(options.bin / "tensordctl", daemon.address["tcp"])
            start = time.time()
            counts = load_maker.run(load, options.seconds)
            end = time.time()
            await_scrapes(prometheus)
            checker = Checker(prometheus, start, end)
            check_all(checker, daemon, load, counts, options)
    print(f"{checker.query_count} queries and rules on {counts[0]} runs and {counts[1]} on streams: "
          f"{len(checker.faults)} faults")
    return 1 if checker.faults else 0


def play(options):
    recording = page_server.Recording(options.recorded)
    with tempfile.TemporaryDirectory() as folder, page_server.PageServer(recording.page_at) as server:
        folder = pathlib.Path(folder)
        config = prometheus_process.write_config(folder, {server.address: (RECORDED, "tensord-0")})
        with prometheus_process.Prometheus(config, folder) as prometheus:
            # The recording begins with its first scrape, and Prometheus takes a while to find the target.
            await_scrapes(prometheus, 1)
            start = time.time()
            time.sleep(recording.seconds + 1)
            checker = Checker(prometheus, start, time.time())
            dashboards = panels.read_dashboards()
            draw_pictures(checker, dashboards, ask_panels(checker, dashboards, RECORDED), options.pictures)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=metric_names.ROOT / "build/release/bin",
                        help="where tensord and tensordctl are")
    parser.add_argument("--seconds", type=float, default=40, help="how long the load lasts")
    parser.add_argument("--pictures", type=pathlib.Path, help="draw the dashboards there; needs matplotlib")
    parser.add_argument("--recorded", type=pathlib.Path, help="play this instead")
    options = parser.parse_args()
    for needed in [options.recorded] if options.recorded else [options.bin / "tensord", options.bin / "tensordctl"]:
        if not needed.is_file():
            parser.error(f"there is no {needed}")
    try:
        return play(options) if options.recorded else run(options)
    except (load_maker.Failed, prometheus_process.Failed, daemon_process.Failed, gzip.BadGzipFile) as failure:
        print(f"FAULT: {failure}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
