"""Every overlay renders and is without faults, and each kind of fault that is planted is caught by name.

With TENSORD_BIN_DIR, a real daemon says whether the options and the probes' services exist."""

import copy
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "scripts/deployment"), str(ROOT / "tests/e2e")]

import check_manifests
import manifests
import programs

RENDERED = {name: manifests.render(manifests.KUBERNETES / "overlays" / name) for name in manifests.OVERLAYS}


def find(objects, kind, name=None):
    return next(item for item in objects
                if item["kind"] == kind and name in (None, item["metadata"]["name"]))


class Manifests(unittest.TestCase):
    def test_every_overlay_is_without_faults(self):
        self.assertEqual(manifests.OVERLAYS, ["cpu", "kserve", "nvidia", "release", "vulkan"])
        for name, objects in RENDERED.items():
            with self.subTest(name):
                self.assertEqual(check_manifests.faults(objects, must_be_pinned=name == "release"), [])

    def test_an_overlay_that_does_not_render_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(manifests.KUBERNETES, folder, dirs_exist_ok=True)
            kustomization = pathlib.Path(folder) / "overlays/cpu/kustomization.yaml"
            kustomization.write_text(kustomization.read_text(encoding="utf-8").replace("resources:", "resource:"), encoding="utf-8")
            with self.assertRaisesRegex(manifests.Failed, "resource"):
                manifests.render(kustomization.parent)

    def test_a_changed_configuration_changes_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(manifests.KUBERNETES, folder, dirs_exist_ok=True)
            config = pathlib.Path(folder) / "base/config/tensord.yaml"
            config.write_text(config.read_text(encoding="utf-8").replace("drain-timeout: 40s", "drain-timeout: 41s"), encoding="utf-8")
            changed = manifests.render(pathlib.Path(folder) / "overlays/cpu")
            name = find(changed, "ConfigMap")["metadata"]["name"]
            self.assertNotEqual(name, find(RENDERED["cpu"], "ConfigMap")["metadata"]["name"])
            volumes = manifests.workloads(changed)[0].volumes()
            self.assertEqual(volumes["config"]["configMap"]["name"], name)

    def test_examples_are_without_faults(self):
        path = manifests.KUBERNETES / "examples/first-run.yaml"
        self.assertEqual(check_manifests.example_faults(path), [])
        with tempfile.TemporaryDirectory() as folder:
            planted = pathlib.Path(folder) / path.name
            planted.write_text(path.read_text(encoding="utf-8").replace("backoffLimit", "backofLimit"), encoding="utf-8")
            self.assertIn("backofLimit", check_manifests.example_faults(planted)[0])

    def test_the_example_reaches_the_daemon(self):
        example = manifests.Workload(yaml.safe_load((manifests.KUBERNETES / "examples/first-run.yaml").read_text(encoding="utf-8")))
        host, port = next(word for word in example.container["command"] if word.startswith("--address=")).split("=")[1].split(":")
        service = find(RENDERED["cpu"], "Service", host)
        self.assertEqual(service["spec"]["ports"][0]["port"], int(port))
        allowed = find(RENDERED["cpu"], "NetworkPolicy")["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"]
        self.assertLessEqual(allowed.items(), example.labels.items())

    # Each plants one fault into a copy of an overlay's objects, and tells a part of the line that must come of it.

    def assert_caught(self, what, plant, overlay="cpu", **options):
        objects = copy.deepcopy(RENDERED[overlay])
        plant(objects)
        found = check_manifests.faults(objects, **options)
        self.assertTrue(any(what in fault for fault in found), f"{what!r} is not in {found}")

    def container(self, objects):
        return manifests.workloads(objects)[0].container

    def pod(self, objects):
        return manifests.workloads(objects)[0].pod

    def test_unknown_and_mistyped_fields(self):
        self.assert_caught("readinesProbe", lambda o: self.container(o).update(
            readinesProbe=self.container(o).pop("readinessProbe")))
        self.assert_caught("Deployment tensord: spec.replicas", lambda o: find(o, "Deployment")["spec"].update(replicas="two"))
        self.assert_caught("ClusterIp", lambda o: find(o, "Service")["spec"].update(ClusterIp="None"))
        self.assert_caught("HorizontalPodAutoscaler of autoscaling/v2beta2",
                           lambda o: find(o, "HorizontalPodAutoscaler").update(apiVersion="autoscaling/v2beta2"))
        self.assert_caught("intervall", lambda o: find(o, "PodMonitor")["spec"]["podMetricsEndpoints"][0].update(intervall="1s"))
        self.assert_caught("15 seconds", lambda o: find(o, "PodMonitor")["spec"]["podMetricsEndpoints"][0].update(interval="15 seconds"))
        self.assert_caught("autoselect", lambda o: find(o, "ClusterServingRuntime")["spec"]["supportedModelFormats"][0].update(autoselect=True), "kserve")
        self.assert_caught("livenesProbe", lambda o: self.container(o).update(livenesProbe={}), "kserve")
        self.assert_caught("storageURI", lambda o: find(o, "InferenceService")["spec"]["predictor"]["model"].update(storageURI="x"), "kserve")

    def test_selectors(self):
        typo = {"app.kubernetes.io/name": "tensor"}
        self.assert_caught("Service tensord-pods: its selector", lambda o: find(o, "Service", "tensord-pods")["spec"].update(selector=typo))
        self.assert_caught("PodDisruptionBudget tensord: its selector", lambda o: find(o, "PodDisruptionBudget")["spec"]["selector"].update(matchLabels=typo))
        self.assert_caught("NetworkPolicy tensord: its selector", lambda o: find(o, "NetworkPolicy")["spec"]["podSelector"].update(matchLabels=typo))
        self.assert_caught("PodMonitor tensord: its selector", lambda o: find(o, "PodMonitor")["spec"]["selector"].update(matchLabels=typo))
        self.assert_caught("spread over kubernetes.io/hostname", lambda o: self.pod(o)["topologySpreadConstraints"][1]["labelSelector"].update(matchLabels=typo))
        self.assert_caught("no Deployment tensor to scale", lambda o: find(o, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"].update(name="tensor"))
        self.assert_caught("no ClusterServingRuntime tensor", lambda o: find(o, "InferenceService")["spec"]["predictor"]["model"].update(runtime="tensor"), "kserve")

    def test_ports(self):
        self.assert_caught("Service tensord: no container has a port named gprc", lambda o: find(o, "Service", "tensord")["spec"]["ports"][0].update(targetPort="gprc"))
        self.assert_caught("PodMonitor tensord: no container has a port named metric", lambda o: find(o, "PodMonitor")["spec"]["podMetricsEndpoints"][0].update(port="metric"))
        self.assert_caught("NetworkPolicy tensord: no container has a port named metric", lambda o: find(o, "NetworkPolicy")["spec"]["ingress"][1]["ports"][0].update(port="metric"))
        self.assert_caught("readinessProbe asks port 8501", lambda o: self.container(o)["readinessProbe"]["grpc"].update(port=8501))
        self.assert_caught("has no startupProbe by gRPC", lambda o: self.container(o).pop("startupProbe"))
        self.assert_caught("port grpc is 8510, and the daemon's listen is 0.0.0.0:8500", lambda o: self.container(o)["ports"][0].update(containerPort=8510))
        self.assert_caught("port h2c is 8510", lambda o: self.container(o)["ports"][0].update(containerPort=8510), "kserve")
        self.assert_caught("cannot be reached from outside", lambda o: self.edit_config(o, "listen: 0.0.0.0:8500", "listen: 127.0.0.1:8500"))

    def edit_config(self, objects, old, new):
        data = find(objects, "ConfigMap")["data"]
        self.assertIn(old, data["tensord.yaml"])
        data["tensord.yaml"] = data["tensord.yaml"].replace(old, new, 1)

    def test_mounts(self):
        self.assert_caught("has no key tensord.yaml", lambda o: find(o, "ConfigMap").update(data={"tensor.yaml": ""}))
        self.assert_caught("there is no ConfigMap tensord-conf", lambda o: self.pod(o)["volumes"][0]["configMap"].update(name="tensord-conf"))
        self.assert_caught("nothing is mounted at /etc/tensor,", lambda o: self.container(o)["args"].__setitem__(1, "/etc/tensor/tensord.yaml"))
        self.assert_caught("mounts volume stat, which is not there", lambda o: self.container(o)["volumeMounts"][1].update(name="stat"))
        self.assert_caught("volume state is mounted nowhere", lambda o: self.container(o)["volumeMounts"].pop(1))
        self.assert_caught("Secret tensord-secrets is not among", lambda o: self.container(o)["envFrom"][0]["secretRef"].pop("optional"))
        self.assert_caught("there is no ServiceAccount tensor", lambda o: self.pod(o).update(serviceAccountName="tensor"))

    def test_the_end(self):
        self.assert_caught("terminationGracePeriodSeconds is 50, and preStop, drain-grace and drain-timeout take 50 s", lambda o: self.pod(o).update(terminationGracePeriodSeconds=50))
        self.assert_caught("take 65 s", lambda o: self.edit_config(o, "drain-timeout: 40s", "drain-timeout: 55s"))
        self.assert_caught("has no preStop that sleeps", lambda o: self.container(o).pop("lifecycle"))
        self.assert_caught("40 is no duration", lambda o: self.edit_config(o, "drain-timeout: 40s", "drain-timeout: 40"))
        self.assert_caught("terminationGracePeriodSeconds is 30", lambda o: self.container(o)["args"].append("--drain-timeout=25s"), "kserve")

    def test_resources(self):
        self.assert_caught("no whole number", lambda o: [self.container(o)["resources"][key].update(cpu="1500m") for key in ("limits", "requests")])
        self.assert_caught("are not the same", lambda o: self.container(o)["resources"]["limits"].pop("memory"))

    def test_confinement(self):
        self.assert_caught("securityContext.runAsNonRoot is None", lambda o: self.pod(o)["securityContext"].pop("runAsNonRoot"))
        self.assert_caught("securityContext.readOnlyRootFilesystem is False", lambda o: self.container(o)["securityContext"].update(readOnlyRootFilesystem=False))
        self.assert_caught("securityContext.capabilities", lambda o: self.container(o)["securityContext"].pop("capabilities"))
        self.assert_caught("securityContext.runAsUser", lambda o: self.pod(o)["securityContext"].update(runAsUser=0))
        self.assert_caught("mounts a token", lambda o: self.pod(o).update(automountServiceAccountToken=True))
        self.assert_caught("volume state is of a kind", lambda o: self.pod(o)["volumes"].__setitem__(1, {"name": "state", "hostPath": {"path": "/"}}))
        self.assert_caught("securityContext.runAsNonRoot", lambda o: self.container(o)["securityContext"].pop("runAsNonRoot"), "kserve")

    def test_images(self):
        self.assert_caught("has no digest", lambda o: self.container(o).update(image="registry.example.com/tensord:1.0"), "release", must_be_pinned=True)
        self.assert_caught("may be another tomorrow", lambda o: self.container(o).update(image="tensord:latest"))

    def test_metrics(self):
        self.assert_caught("metric tensord_queue_wait_p9_seconds is none", lambda o: find(o, "HorizontalPodAutoscaler")["spec"]["metrics"][0]["pods"]["metric"].update(name="tensord_queue_wait_p9_seconds"))
        self.assert_caught("does not make job", lambda o: find(o, "PodMonitor")["spec"].update(jobLabel="app"))


class AdapterRule(unittest.TestCase):
    """The Prometheus adapter's query, with its template filled in as the adapter does, on series that are known."""

    QUERY = (check_manifests.adapter_rules()[0]["metricsQuery"]
             .replace("<<.Series>>", "tensord_queue_wait_seconds_bucket")
             .replace("<<.LabelMatchers>>", 'namespace="n",pod=~"a|b"')
             .replace("<<.GroupBy>>", "pod"))

    def promtool(self, query):
        tests = f"""
tests:
  - interval: 15s
    input_series:
      - {{series: 'tensord_queue_wait_seconds_bucket{{namespace="n",pod="a",device="cpu:0",le="0.01"}}', values: '0+10x20'}}
      - {{series: 'tensord_queue_wait_seconds_bucket{{namespace="n",pod="a",device="cpu:0",le="0.1"}}', values: '0+10x20'}}
      - {{series: 'tensord_queue_wait_seconds_bucket{{namespace="n",pod="a",device="cpu:0",le="+Inf"}}', values: '0+10x20'}}
      - {{series: 'tensord_queue_wait_seconds_bucket{{namespace="n",pod="b",device="cpu:0",le="0.01"}}', values: '0+0x20'}}
      - {{series: 'tensord_queue_wait_seconds_bucket{{namespace="n",pod="b",device="cpu:0",le="0.1"}}', values: '0+10x20'}}
      - {{series: 'tensord_queue_wait_seconds_bucket{{namespace="n",pod="b",device="cpu:0",le="+Inf"}}', values: '0+10x20'}}
    promql_expr_test:
      - expr: '{query}'
        eval_time: 5m
        exp_samples:
          - {{labels: '{{pod="a"}}', value: 0.009000000000000001}}
          - {{labels: '{{pod="b"}}', value: 0.09100000000000001}}
"""
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(tests)
            file.flush()
            return subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True)

    def test_it_is_each_pods_90th_percentile(self):
        done = self.promtool(self.QUERY)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotEqual(self.promtool(self.QUERY.replace("0.9,", "0.5,")).returncode, 0)

    def test_its_series_is_one_that_the_daemon_has(self):
        names = (ROOT / "server/metrics/metric_names.h").read_text(encoding="utf-8")
        self.assertIn('"tensord_queue_wait_seconds"', names)


@unittest.skipUnless(os.environ.get("TENSORD_BIN_DIR"), "needs a built daemon: TENSORD_BIN_DIR")
class AskingTheDaemon(unittest.TestCase):
    """Whether a daemon takes the options that the manifests give it, and knows the services that the probes ask for."""

    def options_fault(self, workload, objects):
        """What the daemon says of the container's configuration; empty when it takes it."""
        environment = {"TENSORD_" + name.upper().replace("-", "_"): entry.get("value", "pod-0")
                       for name, entry in workload.variables().items()}
        arguments = list(workload.container.get("args", []))
        with tempfile.TemporaryDirectory() as folder:
            file = manifests.config_file(workload, objects)
            if file:
                path = pathlib.Path(folder) / "tensord.yaml"
                path.write_text(file[1], encoding="utf-8")
                arguments[arguments.index("--config") + 1] = str(path)
            done = subprocess.run([os.path.join(programs.BIN, "tensord"), *arguments, "--print-config"],
                                  env=environment, capture_output=True, text=True)
        if done.returncode == 0:
            # An unknown variable is no error for the daemon, so it is looked for here.
            for name in workload.variables():
                if f"\n{name}: " not in done.stdout:
                    return f"no option {name}"
        return done.stderr

    def test_options_exist(self):
        for name, objects in RENDERED.items():
            for workload in manifests.workloads(objects):
                with self.subTest(name):
                    self.assertEqual(self.options_fault(workload, objects), "")

    def test_options_that_do_not_exist_are_caught(self):
        objects = copy.deepcopy(RENDERED["nvidia"])
        workload = manifests.workloads(objects)[0]
        workload.container["env"][0]["name"] = "TENSORD_DEVICE"
        self.assertIn("no option device", self.options_fault(workload, objects))
        objects = copy.deepcopy(RENDERED["cpu"])
        data = find(objects, "ConfigMap")["data"]
        data["tensord.yaml"] = data["tensord.yaml"].replace("drain-grace", "drain-grase")
        self.assertIn("drain-grase", self.options_fault(manifests.workloads(objects)[0], objects))

    def test_probes_ask_for_services_that_are_served(self):
        services = {probe["service"] for objects in RENDERED.values() for workload in manifests.workloads(objects)
                    for _, probe in workload.probes()}
        self.assertEqual(services, {"liveness", "tensord.v1.ExecutionService"})
        with programs.Daemon("--devices", "cpu:0") as daemon:
            for service in services:
                outcome = daemon.ctl("health", service)
                self.assertEqual(outcome.code, 0, outcome)
            self.assertNotEqual(daemon.ctl("health", "tensord.v1.ExecutionServices").code, 0)


if __name__ == "__main__":
    unittest.main()
