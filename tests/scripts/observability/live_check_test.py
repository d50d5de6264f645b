"""What live_check.py asks for can be missed: each kind of bad answer is a fault with a name."""

import math
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/observability"))

import live_check
import made_up_page
import metric_names
import panels
import promql
import values


class FakePrometheus:
    """Answers by the whole text of an expression, or by the first metric in it; else with nothing."""

    def __init__(self, answers=None, rules=()):
        self.answers, self._rules = answers or {}, rules

    def query(self, expression, at=None):
        if expression in self.answers:
            return self.answers[expression]
        return self.answers.get(promql.parse(expression).selectors[0].metric, [])

    def query_range(self, expression, start, end, step):
        return [(labels, [(start, value)]) for labels, value in self.query(expression)]

    def label_values(self, label, selector):
        return []

    def rules(self):
        return self._rules


def panel(expression):
    return panels.Panel("board", {"title": "Is it well?", "id": 1}, [panels.Query(expression, "", False)])


class Answers(unittest.TestCase):
    def faults(self, prometheus, expression, namespace=live_check.REAL):
        checker = live_check.Checker(prometheus, 0, 10)
        checker.fail = checker.faults.append
        checker.panel(panel(expression), namespace)
        return checker.faults

    def test_a_number_is_an_answer(self):
        self.assertEqual(self.faults(FakePrometheus({"tensord_queue_depth": [({}, 0.0)]}), "tensord_queue_depth"), [])

    def test_nothing_is_none(self):
        self.assertIn("real: board: Is it well?: empty", self.faults(FakePrometheus(), "tensord_queue_depth")[0])

    def test_not_a_number_is_none(self):
        prometheus = FakePrometheus({"tensord_queue_depth": [({}, math.nan)]})
        self.assertIn("empty", self.faults(prometheus, "tensord_queue_depth")[0])

    def test_a_reason_excuses_nothing(self):
        self.assertEqual(self.faults(FakePrometheus(), "rate(tensord_transfer_bytes_total[1m])"), [])

    def test_a_reason_does_not_excuse_what_is_there(self):
        prometheus = FakePrometheus({
            "rate(tensord_transfer_bytes_total[1m])": [],
            'tensord_transfer_bytes_total{namespace="real"}': [({}, 1.0)]})
        self.assertIn("empty", self.faults(prometheus, "rate(tensord_transfer_bytes_total[1m])")[0])

    def test_a_reason_is_for_its_own_series(self):
        expression = 'rate(tensord_op_launches_total{op="%s"}[1m])'
        self.assertEqual(self.faults(FakePrometheus(), expression % "program_replay"), [])
        self.assertIn("empty", self.faults(FakePrometheus(), expression % "Conv")[0])

    def test_a_made_up_page_has_no_excuse(self):
        faults = self.faults(FakePrometheus(), "rate(tensord_transfer_bytes_total[1m])", live_check.MADE_UP)
        self.assertIn("made-up: board: Is it well?: empty", faults[0])

    def test_a_reason_that_nothing_needs(self):
        checker = live_check.Checker(FakePrometheus(), 0, 10)
        checker.fail = checker.faults.append
        checker.stale_reasons()
        self.assertEqual(len(checker.faults), len(live_check.ABSENT))


class Rules(unittest.TestCase):
    def faults(self, rule, answers=None):
        checker = live_check.Checker(FakePrometheus(answers, [rule]), 0, 10)
        checker.fail = checker.faults.append
        checker.rules()
        return checker.faults

    def recording(self, **changes):
        return {"type": "recording", "name": "a:b", "query": "tensord_queue_depth", "health": "ok"} | changes

    def alert(self, **changes):
        return {"type": "alerting", "name": "TensordDown", "query": 'tensord_device_up{device="x"} == 0', "health": "ok",
                "state": "inactive", "alerts": []} | changes

    def test_a_rule_that_prometheus_cannot_evaluate(self):
        self.assertIn("rule a:b: err no such label",
                      self.faults(self.recording(health="err", lastError="no such label"), {"a:b": [({}, 1.0)]}))

    def test_a_rule_that_records_nothing(self):
        self.assertEqual(self.faults(self.recording()), ["real: rule a:b: empty", "made-up: rule a:b: empty"])

    def test_an_alert_that_fires(self):
        answers = {"tensord_device_up": [({}, 1.0)]}
        self.assertEqual(self.faults(self.alert(), answers), [])
        self.assertIn("alert TensordDown fires", self.faults(self.alert(state="firing"), answers)[0])

    def test_an_alert_that_never_could(self):
        self.assertEqual(self.faults(self.alert()), ['alert TensordDown: there is no tensord_device_up{device="x"}'])


class Values(unittest.TestCase):
    """One operator with 300 samples, all in the bucket from 0.4 us to 1.5 us, and one with a third of its time."""

    def setUp(self):
        buckets = [0] * 17
        buckets[2] = 300
        self.profile = {"bucket_bounds_ns": [round(edge * 1e9) for edge in metric_names.read_duration_edges()], "rows": [
            {"op": op, "backend": "cpu", "launch_count": 10, "devices": [
                {"device": "cpu:0", "launch_count": 10, "error_count": 0, "size_bytes": 5}],
             "host_time": {"sample_count": 300, "total_ns": total, "bucket_counts": buckets}}
            for op, total in (("Conv", 3e9), ("Relu", 1e9))]}
        self.answers = {"sum by (op, backend) (tensord_kernel_launches_total{namespace=\"real\"})": [],
                        "tensord_requests_total": [({"code": "OK"}, 7.0)],
                        "tensord_executions_total": [({"state": "succeeded"}, 9.0)]}
        for row in self.profile["rows"]:
            labels = {"op": row["op"], "backend": "cpu", "device": "cpu:0"}
            metric = "tensord_op_host_duration_seconds"
            edges = [*metric_names.read_duration_edges(), math.inf]
            for name, value in (("tensord_op_launches_total", 10.0), ("tensord_op_errors_total", 0.0),
                                ("tensord_op_bytes_total", 5.0), (f"{metric}_count", 300.0),
                                (f"{metric}_sum", row["host_time"]["total_ns"] / 1e9),
                                ("sum by (op, backend) (tensord_kernel_launches_total{namespace=\"real\"})", 10.0),
                                ("namespace_op_backend:tensord_op_time:share_rate5m", row["host_time"]["total_ns"] / 4e9),
                                ("namespace_op_backend:tensord_op_host_duration_seconds:p50_rate5m", 1e-6)):
                self.answers.setdefault(name, []).append((labels, value))
            self.answers.setdefault(f"{metric}_bucket", []).extend(
                ({**labels, "le": str(edge).replace("inf", "+Inf")}, 0.0 if i < 2 else 300.0) for i, edge in enumerate(edges))

    def differences(self):
        return list(values.compare(FakePrometheus(self.answers), "real", self.profile, 7, 2))

    def assert_found(self, metric, text):
        """After the first series of a metric has another value."""
        labels, value = self.answers[metric][0]
        self.answers[metric][0] = (labels, value + 1)
        self.assertIn(text, "\n".join(self.differences()))

    def test_the_same_is_the_same(self):
        self.assertEqual(self.differences(), [])

    def test_one_launch_too_many(self):
        self.assert_found("tensord_op_launches_total",
                          "tensord_op_launches_total of Conv cpu:0: Prometheus has 11.0, the daemon 10")

    def test_one_error_too_many(self):
        self.assert_found("tensord_op_errors_total", "tensord_op_errors_total of Conv cpu:0")

    def test_one_byte_too_many(self):
        self.assert_found("tensord_op_bytes_total", "tensord_op_bytes_total of Conv cpu:0")

    def test_one_sample_too_many(self):
        self.assert_found("tensord_op_host_duration_seconds_count", "tensord_op_host_duration_seconds_count of Conv cpu")

    def test_another_sum(self):
        self.assert_found("tensord_op_host_duration_seconds_sum", "tensord_op_host_duration_seconds_sum of Conv cpu")

    def test_another_bucket(self):
        self.assert_found("tensord_op_host_duration_seconds_bucket",
                          "tensord_op_host_duration_seconds_bucket of Conv cpu 1e-07")

    def test_one_launch_of_a_kernel_too_many(self):
        self.assert_found("sum by (op, backend) (tensord_kernel_launches_total{namespace=\"real\"})",
                          "tensord_kernel_launches_total of Conv cpu")

    def test_one_call_too_many(self):
        self.assert_found("tensord_requests_total", "tensord_requests_total of OK: Prometheus has 8.0, the daemon 7")

    def test_one_run_too_many(self):
        self.assert_found("tensord_executions_total", "tensord_executions_total of succeeded")

    def test_another_share(self):
        self.assert_found("namespace_op_backend:tensord_op_time:share_rate5m", "share of Conv on cpu: the rule says 1.750")

    def test_shares_of_next_to_nothing_are_not_compared(self):
        for row in self.profile["rows"]:
            row["host_time"]["total_ns"] /= 1e6
        self.answers["tensord_op_host_duration_seconds_sum"] = [
            (labels, value / 1e6) for labels, value in self.answers["tensord_op_host_duration_seconds_sum"]]
        self.answers["namespace_op_backend:tensord_op_time:share_rate5m"] = []
        self.assertEqual(self.differences(), [])

    def test_another_median(self):
        self.assert_found("namespace_op_backend:tensord_op_host_duration_seconds:p50_rate5m", "p50 of Conv on cpu")

    def test_a_daemon_that_counted_nothing(self):
        self.profile["rows"] = []
        self.assertIn("the daemon has no profile", self.differences())


class MadeUpPage(unittest.TestCase):
    def test_it_has_every_metric(self):
        metrics = metric_names.read_metrics()
        page = made_up_page.page(metrics, 10.0)
        for name in metric_names.series_of(metrics):
            self.assertRegex(page, rf"(?m)^{name}[{{ ]")

    def test_counters_grow(self):
        metrics = metric_names.read_metrics()
        first, second = ({line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
                          for line in made_up_page.page(metrics, seconds).splitlines() if not line.startswith("#")}
                         for seconds in (10.0, 20.0))
        self.assertTrue(all(second[series] >= value for series, value in first.items()))


if __name__ == "__main__":
    unittest.main()
