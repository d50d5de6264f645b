"""Rendered Kubernetes objects, and what the checks ask of them."""

import os
import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBERNETES = ROOT / "deploy/kubernetes"
OVERLAYS = sorted(path.name for path in (KUBERNETES / "overlays").iterdir())

# How long Kubernetes waits after SIGTERM where a pod does not say.
DEFAULT_GRACE_S = 30


class Failed(Exception):
    pass


def kubectl():
    """The kubectl of scripts/setup.sh --venv: its kustomize is what a cluster's users have."""
    return os.environ.get("TENSORD_KUBECTL", str(ROOT / "build/kubectl/kubectl"))


def render(folder):
    """What "kubectl apply -k FOLDER" would send."""
    done = subprocess.run([kubectl(), "kustomize", str(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{folder} does not render: {done.stderr.strip()}")
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def name_of(item):
    return f"{item['kind']} {item['metadata']['name']}"


def of_kind(objects, *kinds):
    return [item for item in objects if item["kind"] in kinds]


class Workload:
    """One pod template, be it a Deployment's or a serving runtime's."""

    def __init__(self, item):
        self.name = name_of(item)
        is_runtime = item["kind"] == "ClusterServingRuntime"
        self.pod = item["spec"] if is_runtime else item["spec"]["template"]["spec"]
        self.labels = {} if is_runtime else item["spec"]["template"]["metadata"]["labels"]
        self.is_runtime = is_runtime
        self.container = self.pod["containers"][0]

    def ports(self):
        return {port["name"]: port["containerPort"] for port in self.container.get("ports", [])}

    def probes(self):
        for key in ("startupProbe", "readinessProbe", "livenessProbe"):
            yield key, self.container.get(key, {}).get("grpc")

    def security(self, key):
        """A field of the container's security context, or of its pod's."""
        return (self.container.get("securityContext", {}).get(key)
                if key in self.container.get("securityContext", {})
                else self.pod.get("securityContext", {}).get(key))

    def grace_s(self):
        return self.pod.get("terminationGracePeriodSeconds", DEFAULT_GRACE_S)

    def pre_stop_s(self):
        """How long preStop sleeps; None where it does anything else."""
        hook = self.container.get("lifecycle", {}).get("preStop", {})
        if "sleep" in hook:
            return hook["sleep"]["seconds"]
        command = hook.get("exec", {}).get("command", [])
        if len(command) == 2 and command[0].endswith("/sleep"):
            return float(command[1])
        return None

    def mounts(self):
        return {mount["mountPath"]: mount["name"] for mount in self.container.get("volumeMounts", [])}

    def volumes(self):
        return {volume["name"]: volume for volume in self.pod.get("volumes", [])}

    def variables(self):
        """TENSORD_* as option names."""
        return {entry["name"][len("TENSORD_"):].lower().replace("_", "-"): entry
                for entry in self.container.get("env", []) if entry["name"].startswith("TENSORD_")}


def workloads(objects):
    """The daemons."""
    return [Workload(item) for item in of_kind(objects, "Deployment", "ClusterServingRuntime")]


def config_file(workload, objects):
    """(its path in the container, its text) for what --config names; None where nothing does. Raises Failed where it would
    not be there."""
    args = workload.container.get("args", [])
    if "--config" not in args:
        return None
    path = pathlib.PurePosixPath(args[args.index("--config") + 1])
    volume_name = workload.mounts().get(str(path.parent))
    if volume_name is None:
        raise Failed(f"{workload.name}: nothing is mounted at {path.parent}, where --config looks for {path.name}")
    volume = workload.volumes().get(volume_name)
    if volume is None:
        raise Failed(f"{workload.name}: there is no volume {volume_name}")
    map_name = volume.get("configMap", {}).get("name")
    maps = {item["metadata"]["name"]: item for item in of_kind(objects, "ConfigMap")}
    if map_name not in maps:
        raise Failed(f"{workload.name}: there is no ConfigMap {map_name}")
    if path.name not in maps[map_name]["data"]:
        raise Failed(f"{workload.name}: ConfigMap {map_name} has no key {path.name}, which --config names")
    return path, maps[map_name]["data"][path.name]


def options(workload, objects):
    """The daemon's options by name, as the container sets them in its file, variables and arguments."""
    file = config_file(workload, objects)
    found = dict(yaml.safe_load(file[1]) or {}) if file else {}
    for name, entry in workload.variables().items():
        found[name] = entry.get("value", "")
    for argument in workload.container.get("args", []):
        flag = re.fullmatch(r"--([a-z-]+)=(.*)", argument)
        if flag:
            found[flag[1]] = flag[2]
        elif argument.startswith("--") and argument != "--config":
            found[argument[2:]] = "true"
    return found


def seconds(text):
    """A duration of the daemon's, such as 1m30s."""
    units = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3}
    parts = re.findall(r"([\d.]+)(ms|[hms])", str(text))
    if "".join(number + unit for number, unit in parts) != str(text):
        raise Failed(f"{text} is no duration such as 30s")
    return sum(float(number) * units[unit] for number, unit in parts)
