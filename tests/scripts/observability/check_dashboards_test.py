"""The dashboards are without faults, and each kind of fault that is planted in one is caught by name."""

import copy
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/observability"))

import check_dashboards
import metric_names

FOLDER = ROOT / "deploy/grafana/dashboards"
SERIES = metric_names.series_of(metric_names.read_metrics())


class Dashboards(unittest.TestCase):
    def test_they_have_no_faults(self):
        self.assertEqual(list(check_dashboards.check_folder(FOLDER, SERIES)), [])


class PlantedFaults(unittest.TestCase):
    def setUp(self):
        self.dashboard = json.loads((FOLDER / "operators.json").read_text(encoding="utf-8"))
        self.panels = [panel for panel in self.dashboard["panels"] if panel["type"] == "timeseries"]
        self.panel = self.panels[0]
        self.target = self.panel["targets"][0]

    def assert_caught(self, text):
        self.assertIn(text, "\n".join(check_dashboards.check(self.dashboard, SERIES)))

    def set_expression(self, text, legend=""):
        self.target["expr"], self.target["legendFormat"] = text, legend

    def test_two_panels_with_one_id(self):
        self.panel["id"] = self.panels[1]["id"]
        self.assert_caught(f"id {self.panel['id']} is given 2 times")

    def test_panels_that_overlap(self):
        self.panels[1]["gridPos"]["x"] -= 1
        self.assert_caught(f"panels '{self.panel['title']}' and '{self.panels[1]['title']}' overlap")

    def test_a_panel_outside_the_grid(self):
        self.panel["gridPos"]["x"] = 20
        self.assert_caught("is outside the 24 columns")

    def test_no_unit(self):
        del self.panel["fieldConfig"]["defaults"]["unit"]
        self.assert_caught("no unit")

    def test_a_unit_that_grafana_does_not_know(self):
        self.panel["fieldConfig"]["defaults"]["unit"] = "secs"
        self.assert_caught("unknown unit secs")

    def test_an_unknown_unit_of_a_column(self):
        table = next(panel for panel in self.dashboard["panels"] if panel["type"] == "table")
        table["fieldConfig"]["overrides"][1]["properties"][0]["value"] = "launches"
        self.assert_caught("unknown unit launches")

    def test_a_title_that_says_nothing(self):
        self.panel["title"] = "Latency"
        self.assert_caught("panel 'Latency': the title is neither a question nor a claim")

    def test_no_description(self):
        self.panel["description"] = ""
        self.assert_caught("no description")

    def test_no_query(self):
        self.panel["targets"] = []
        self.assert_caught("no query")

    def test_two_queries_with_one_name(self):
        self.panel["targets"].append(copy.deepcopy(self.target))
        self.assert_caught("two queries have one refId")

    def test_a_variable_that_is_not_defined(self):
        self.target["expr"] = self.target["expr"].replace("$pod", "$node")
        self.assert_caught("variable $node is not defined")

    def test_a_variable_that_changes_nothing(self):
        self.dashboard["templating"]["list"].append(
            {**self.dashboard["templating"]["list"][1], "name": "zone"})
        self.assert_caught("variable $zone changes nothing")

    def test_a_variable_of_a_label_that_is_not_there(self):
        variable = next(v for v in self.dashboard["templating"]["list"] if v["name"] == "backend")
        variable["query"] = variable["query"].replace(", backend)", ", vendor)")
        self.assert_caught("variable $backend: tensord_op_launches_total has no label vendor")

    def test_a_panel_with_a_data_source_of_its_own(self):
        self.panel["datasource"]["uid"] = "prometheus-1"
        self.assert_caught("it has the data source prometheus-1, not ${datasource}")

    def test_a_query_with_a_data_source_of_its_own(self):
        self.target["datasource"]["uid"] = "prometheus-1"
        self.assert_caught("query A has the data source prometheus-1")

    def test_no_variable_for_the_data_source(self):
        self.dashboard["templating"]["list"] = [
            v for v in self.dashboard["templating"]["list"] if v["name"] != "datasource"]
        self.assert_caught("variable $datasource is not defined")

    def test_a_metric_that_does_not_exist(self):
        self.set_expression("sum(rate(tensord_op_launch_total[$__rate_interval]))")
        self.assert_caught("metric tensord_op_launch_total does not exist")

    def test_a_histogram_by_its_bare_name(self):
        self.set_expression("sum(rate(tensord_op_host_duration_seconds[$__rate_interval]))")
        self.assert_caught("metric tensord_op_host_duration_seconds does not exist")

    def test_a_label_that_a_metric_does_not_have(self):
        self.set_expression('sum(rate(tensord_op_launches_total{operator="Conv"}[$__rate_interval]))')
        self.assert_caught("tensord_op_launches_total has no label operator")

    def test_one_in_a_denominator(self):
        self.set_expression("sum(rate(tensord_op_errors_total[$__rate_interval])) / "
                            "(sum(rate(tensord_op_launches_total[$__rate_interval])) + 1)")
        self.assert_caught("a constant is added: ) + 1")

    def test_one_before_a_denominator(self):
        self.set_expression("sum(rate(tensord_op_errors_total[$__rate_interval])) / "
                            "(1 + sum(rate(tensord_op_launches_total[$__rate_interval])))")
        self.assert_caught("a constant is added: 1 + sum")

    def test_an_edge_of_a_bucket(self):
        self.set_expression('sum(rate(tensord_op_host_duration_seconds_bucket{le="0.0004"}[$__rate_interval]))')
        self.assert_caught("the bucket edge 0.0004 is hard-coded")

    def test_buckets_without_their_edges(self):
        self.set_expression("histogram_quantile(0.5, sum by (op) (rate(tensord_op_host_duration_seconds_bucket[1m])))")
        self.assert_caught("buckets are added up over le")

    def test_busy_time_that_is_sold_as_latency(self):
        self.panel["fieldConfig"]["defaults"]["unit"] = "s"
        self.set_expression("sum(rate(tensord_op_host_duration_seconds_sum[$__rate_interval]))")
        self.assert_caught("a sum of seconds without a division is busy time, not latency")

    def test_a_counter_as_it_is(self):
        self.set_expression("sum(tensord_op_launches_total)")
        self.assert_caught("counter tensord_op_launches_total without rate() or increase()")

    def test_the_rate_of_a_gauge(self):
        self.set_expression("sum(rate(tensord_queue_depth[$__rate_interval]))")
        self.assert_caught("rate() of tensord_queue_depth, which is no counter")

    def test_a_legend_of_a_label_that_is_summed_away(self):
        self.set_expression("sum by (op) (rate(tensord_op_launches_total[$__rate_interval]))", "{{backend}}")
        self.assert_caught("the legend shows backend, which the query does not keep")

    def test_two_dashboards_with_one_uid(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a.json", "b.json"):
                (pathlib.Path(folder) / name).write_text(json.dumps(self.dashboard), encoding="utf-8")
            faults = list(check_dashboards.check_folder(pathlib.Path(folder), SERIES))
        self.assertEqual(faults, ["b.json: uid tensord-operators is a.json's"])

    def test_a_folder_without_dashboards(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("no dashboards", next(check_dashboards.check_folder(pathlib.Path(folder), SERIES)))


if __name__ == "__main__":
    unittest.main()
