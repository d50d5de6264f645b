"""The rules of Prometheus are without faults, and each kind of fault that is planted in them is caught by name."""

import pathlib
import shutil
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/observability"))

import check_rules
import metric_names

FOLDER = ROOT / "deploy/prometheus"
RUNBOOKS = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
SERIES = metric_names.series_of(metric_names.read_metrics())
EDGES = set(metric_names.read_duration_edges())


class Rules(unittest.TestCase):
    def test_they_have_no_faults(self):
        self.assertEqual(list(check_rules.check(FOLDER, RUNBOOKS, SERIES, EDGES)), [])


    def test_they_are_rules_of_the_operator_when_indented(self):
        """The README's command for a PrometheusRule is `spec:` and the file below it."""
        for path in (FOLDER / "rules").glob("*.yml"):
            text = path.read_text(encoding="utf-8")
            indented = "spec:\n" + "".join(f"  {line}" for line in text.splitlines(keepends=True))
            self.assertEqual(yaml.safe_load(indented), {"spec": yaml.safe_load(text)})


class PlantedFaults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for part in ("rules", "tests"):
            shutil.copytree(FOLDER / part, self.folder / part)
        self.runbooks = RUNBOOKS

    def change(self, name, old, new):
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def assert_caught(self, text):
        self.assertIn(text, "\n".join(check_rules.check(self.folder, self.runbooks, SERIES, EDGES)))

    def test_a_metric_that_does_not_exist(self):
        self.change("rules/alerts.yml", "expr: tensord_device_up == 0", "expr: tensord_device_alive == 0")
        self.assert_caught("TensordDeviceDown: metric tensord_device_alive does not exist")

    def test_a_record_that_nothing_records(self):
        self.change("rules/recording.yml", "record: namespace_pod:process_open_fds:ratio", "record: namespace_pod:fds:ratio")
        self.assert_caught("TensordFilesNearLimit: namespace_pod:process_open_fds:ratio is not recorded")

    def test_a_record_twice(self):
        self.change("rules/recording.yml", "record: namespace_pod:process_open_fds:ratio",
                    "record: namespace:tensord_requests:error_ratio_rate5m")
        self.assert_caught("namespace:tensord_requests:error_ratio_rate5m: there are 2 of it")

    def test_an_edge_that_the_histogram_does_not_have(self):
        self.change("rules/recording.yml", 'le="0.4"', 'le="0.5"')
        self.assert_caught("namespace:tensord_requests:slow_ratio_rate5m: 0.5 is no edge of the histogram")

    def test_one_in_a_denominator(self):
        self.change("rules/recording.yml", "/ max by (namespace, pod) (process_max_fds{job=\"tensord\"})",
                    "/ (1 + max by (namespace, pod) (process_max_fds{job=\"tensord\"}))")
        self.assert_caught("namespace_pod:process_open_fds:ratio: a constant is added: 1 + max")

    def test_an_alert_without_a_paragraph(self):
        self.runbooks = RUNBOOKS.replace("### TensordNoProgress", "### TensordProgress")
        self.assert_caught("TensordNoProgress: docs/operations.md has no paragraph for it")
        self.assert_caught("docs/operations.md has a paragraph tensordprogress, and there is no such alert")

    def test_an_alert_that_names_another_paragraph(self):
        self.change("rules/alerts.yml", "docs/operations.md#tensorddown", "docs/operations.md#tensordabsent")
        self.assert_caught("TensordDown: its runbook is 'docs/operations.md#tensordabsent', not docs/operations.md#tensorddown")

    def test_an_alert_that_no_test_expects(self):
        self.change("tests/alerts_test.yml", "alertname: TensordOpErrors", "alertname: TensordDown")
        self.assert_caught("TensordOpErrors: no test expects it to fire")

    def test_a_severity_that_nobody_receives(self):
        self.change("rules/alerts.yml", "severity: ticket", "severity: warning")
        self.assert_caught("TensordOpErrors: its severity is none of page, ticket")

    def test_an_alert_without_a_summary(self):
        self.change("rules/alerts.yml", "summary: 'No daemon answers'", "summary: ''")
        self.assert_caught("TensordAbsent: no summary")


if __name__ == "__main__":
    unittest.main()
