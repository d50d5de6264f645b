#!/usr/bin/env python3
"""Renders the Kubernetes overlays, and says what a cluster would find out too late.

    build/venv/bin/python scripts/deployment/check_manifests.py [FOLDER...]

FOLDER is an overlay, by default each of deploy/kubernetes/overlays. Prints a line for each fault; ends with 1 if there is any.
What needs a daemon (option names, probes' services) is in tests/scripts/deployment.
"""

import re
import sys

import yaml

import check_schemas
from manifests import (KUBERNETES, OVERLAYS, Failed, Workload, config_file, name_of, of_kind, options, render, seconds,
                       workloads)

DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
# What the alerts and dashboards know tensord by.
JOB = "tensord"


def schema_faults(objects):
    for item in objects:
        for fault in check_schemas.faults(item):
            yield f"{name_of(item)}: {fault}"


def selectors(objects):
    """(whose, the labels that it looks for)"""
    for item in objects:
        spec = item.get("spec", {})
        if item["kind"] == "Service":
            yield name_of(item), spec.get("selector", {})
        elif item["kind"] in ("PodDisruptionBudget", "PodMonitor"):
            yield name_of(item), spec["selector"].get("matchLabels", {})
        elif item["kind"] == "NetworkPolicy":
            yield name_of(item), spec["podSelector"].get("matchLabels", {})
        elif item["kind"] == "Deployment":
            yield name_of(item), spec["selector"]["matchLabels"]
            for constraint in spec["template"]["spec"].get("topologySpreadConstraints", []):
                yield f"{name_of(item)}, its spread over {constraint['topologyKey']}", constraint["labelSelector"]["matchLabels"]


def selector_faults(objects):
    pods = [workload.labels for workload in workloads(objects)]
    for whose, labels in selectors(objects):
        if not labels or not any(labels.items() <= pod.items() for pod in pods):
            yield f"{whose}: its selector {labels} matches no pod"
    targets = {(item["kind"], item["metadata"]["name"]) for item in objects}
    for item in of_kind(objects, "HorizontalPodAutoscaler"):
        target = item["spec"]["scaleTargetRef"]
        if (target["kind"], target["name"]) not in targets:
            yield f"{name_of(item)}: there is no {target['kind']} {target['name']} to scale"
    for item in of_kind(objects, "InferenceService"):
        runtime = item["spec"]["predictor"]["model"].get("runtime")
        if ("ClusterServingRuntime", runtime) not in targets:
            yield f"{name_of(item)}: there is no ClusterServingRuntime {runtime}"


def ports_that_are_named(objects):
    """(whose, the name of a container's port)"""
    for item in objects:
        spec = item.get("spec", {})
        if item["kind"] == "Service":
            yield from ((name_of(item), port["targetPort"]) for port in spec["ports"])
        elif item["kind"] == "PodMonitor":
            yield from ((name_of(item), endpoint.get("port")) for endpoint in spec["podMetricsEndpoints"])
        elif item["kind"] == "NetworkPolicy":
            for rule in spec.get("ingress", []):
                yield from ((name_of(item), port["port"]) for port in rule.get("ports", []))


def port_faults(objects):
    known = {name for workload in workloads(objects) for name in workload.ports()}
    for whose, port in ports_that_are_named(objects):
        if port not in known:
            yield f"{whose}: no container has a port named {port}"
    for workload in workloads(objects):
        ports = workload.ports()
        configured = options(workload, objects)
        for port_name, option in (("grpc", "listen"), ("h2c", "listen"), ("metrics", "metrics-listen")):
            address = str(configured.get(option, ""))
            if port_name in ports and not address.endswith(f":{ports[port_name]}"):
                yield f"{workload.name}: port {port_name} is {ports[port_name]}, and the daemon's {option} is {address or 'not set'}"
            if port_name in ports and address.startswith(("127.", "localhost", "[::1]")):
                yield f"{workload.name}: {option} {address} cannot be reached from outside of the pod"
        served = ports.get("grpc", ports.get("h2c"))
        for key, probe in workload.probes():
            if probe is None:
                yield f"{workload.name}: has no {key} by gRPC"
            elif probe["port"] != served:
                yield f"{workload.name}: {key} asks port {probe['port']}, and gRPC is served on {served}"


def mount_faults(objects):
    for workload in workloads(objects):
        try:
            config_file(workload, objects)
        except Failed as failed:
            yield str(failed)
        for path, volume in workload.mounts().items():
            if volume not in workload.volumes():
                yield f"{workload.name}: {path} mounts volume {volume}, which is not there"
        for name in set(workload.volumes()) - set(workload.mounts().values()):
            yield f"{workload.name}: volume {name} is mounted nowhere"
        for source in workload.container.get("envFrom", []):
            secret = source.get("secretRef", {})
            if secret and not secret.get("optional"):
                yield f"{workload.name}: Secret {secret['name']} is not among the manifests, and not optional"
        if "automountServiceAccountToken" in workload.pod and not workload.is_runtime:
            accounts = {item["metadata"]["name"] for item in of_kind(objects, "ServiceAccount")}
            if workload.pod.get("serviceAccountName") not in accounts:
                yield f"{workload.name}: there is no ServiceAccount {workload.pod.get('serviceAccountName')}"


def end_faults(objects):
    """Whether the pod has the time that its daemon takes to end."""
    for workload in workloads(objects):
        configured = options(workload, objects)
        if workload.pre_stop_s() is None:
            yield f"{workload.name}: has no preStop that sleeps"
            continue
        needed = (workload.pre_stop_s() + seconds(configured.get("drain-grace", "0s")) +
                  seconds(configured.get("drain-timeout", "30s")))
        if workload.grace_s() <= needed:
            yield (f"{workload.name}: terminationGracePeriodSeconds is {workload.grace_s()}, and preStop, drain-grace and "
                   f"drain-timeout take {needed:.0f} s")


def resource_faults(objects):
    for workload in workloads(objects):
        limits = workload.container.get("resources", {}).get("limits", {})
        requests = workload.container.get("resources", {}).get("requests", {})
        if limits != requests or not {"cpu", "memory"} <= limits.keys():
            yield f"{workload.name}: requests and limits of cpu and memory are not the same"
        if not str(limits.get("cpu", "")).isdigit():
            yield f"{workload.name}: the limit of cpu is {limits.get('cpu')}, no whole number, so that a part of one lies idle"


def confinement_faults(containing):
    """The "restricted" profile of Kubernetes' pod security standards, and a root that cannot be written to."""
    for workload in containing:
        wishes = {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                  "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
        for key, value in wishes.items():
            if workload.security(key) != value:
                yield f"{workload.name}: securityContext.{key} is {workload.security(key)}, not {value}"
        if not workload.security("runAsUser"):
            yield f"{workload.name}: securityContext.runAsUser is not a number above 0"
        if not workload.is_runtime and workload.pod.get("automountServiceAccountToken") is not False:
            yield f"{workload.name}: mounts a token of its service account"
        for name, volume in workload.volumes().items():
            if not volume.keys() <= {"name", "configMap", "emptyDir", "secret", "persistentVolumeClaim"}:
                yield f"{workload.name}: volume {name} is of a kind that restricted pods may not have"


def image_faults(objects, must_be_pinned):
    for workload in workloads(objects):
        image = workload.container["image"]
        if must_be_pinned and not DIGEST.search(image):
            yield f"{workload.name}: image {image} has no digest"
        if ":" not in image or image.endswith(":latest"):
            yield f"{workload.name}: image {image} may be another tomorrow"


def metric_faults(objects, adapter_rules):
    """Whether what scales and what is scraped go by names that exist."""
    made = {rule["name"]["as"] for rule in adapter_rules}
    for item in of_kind(objects, "HorizontalPodAutoscaler"):
        for metric in item["spec"]["metrics"]:
            name = metric.get("pods", {}).get("metric", {}).get("name")
            if name not in made:
                yield f"{name_of(item)}: metric {name} is none that prometheus-adapter/rules.yaml makes ({', '.join(sorted(made))})"
    labels = [workload.labels for workload in workloads(objects)]
    for item in of_kind(objects, "PodMonitor"):
        job_label = item["spec"].get("jobLabel")
        if any(pod.get(job_label) != JOB for pod in labels):
            yield f"{name_of(item)}: jobLabel {job_label} does not make job=\"{JOB}\", which the alerts look for"


def adapter_rules():
    return yaml.safe_load((KUBERNETES / "prometheus-adapter/rules.yaml").read_text(encoding="utf-8"))["rules"]


def faults(objects, must_be_pinned=False):
    """Every fault of an overlay's objects as a line of text."""
    found = list(schema_faults(objects))
    if found:
        return found  # the others take the schemas for granted
    checks = (selector_faults, mount_faults, port_faults, end_faults, resource_faults)
    try:
        for check in checks:
            found += check(objects)
    except Failed as failed:
        # A fault that mount_faults has told already, or a value that nothing can be computed with.
        found += [str(failed)] if str(failed) not in found else []
    return found + [*confinement_faults(workloads(objects)), *image_faults(objects, must_be_pinned),
                    *metric_faults(objects, adapter_rules())]


def example_faults(path):
    """Of a file of one object that is applied by itself, beside an overlay."""
    item = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [*schema_faults([item]), *confinement_faults([Workload(item)])]


def main():
    folders = sys.argv[1:] or [KUBERNETES / "overlays" / name for name in OVERLAYS]
    count = 0
    for path in sorted((KUBERNETES / "examples").iterdir()):
        for fault in example_faults(path):
            print(f"{path}: {fault}")
            count += 1
    for folder in folders:
        objects = render(folder)
        found = faults(objects, must_be_pinned=str(folder).endswith("release"))
        for fault in found:
            print(f"{folder}: {fault}")
        count += len(found)
        print(f"{folder}: {len(objects)} objects, {len(found)} faults")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
