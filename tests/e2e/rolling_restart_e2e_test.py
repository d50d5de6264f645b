"""A rolling restart as Kubernetes does it, without Kubernetes: three daemons behind a ClientPool under load, each ended and started
again in its turn with the manifests' own timings. No request fails, and no daemon cuts anything off.

What is simulated is what a pod sees: preStop, SIGTERM, the grace period after which it would be killed, a new process. What
is not: Endpoints, kube-proxy, the network between nodes."""

import json
import os
import socket
import subprocess
import sys
import time
import unittest

import programs

sys.path.insert(0, programs.source("scripts/deployment"))
import manifests  # noqa: E402

MODEL = programs.source("models/digits/model.onnx")
THREADS = 4


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def timings():
    """Of the Deployment and its configuration, as they are in the repository: (preStop, drain-grace, drain-timeout, grace)."""
    import yaml  # noqa: PLC0415
    base = manifests.KUBERNETES / "base"
    workload = manifests.Workload(yaml.safe_load((base / "deployment.yaml").read_text(encoding="utf-8")))
    config = yaml.safe_load((base / "config/tensord.yaml").read_text(encoding="utf-8"))
    return workload.pre_stop_s(), config["drain-grace"], config["drain-timeout"], workload.grace_s()


class Pod:
    """A daemon on an address of its own, which it has again after a restart."""

    def __init__(self, *options):
        self.address = f"127.0.0.1:{free_port()}"
        self._options = ("--devices", "cpu:0", "--listen", self.address, *options)
        self.process = self._log = None

    def start(self):
        self.process = subprocess.Popen(
            [os.path.join(programs.BIN, "tensord"), "--metrics-listen", "off", *self._options],
            stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + programs.PATIENCE_S
        while programs.ctl("health", "--timeout", "1", "--address", self.address).code != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the daemon did not start: " + self.process.communicate()[1])
            time.sleep(0.05)

    def terminate(self, grace_s):
        """As the kubelet does: SIGTERM, and the end of patience after the grace. Its exit code and its log."""
        self.process.terminate()
        try:
            log = self.process.communicate(timeout=grace_s)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            log = self.process.communicate()[1]
        return self.process.returncode, log


class Load:
    """client_pool_load in the background."""

    def __init__(self, addresses):
        self._process = subprocess.Popen(
            [os.path.join(programs.BIN, "client_pool_load"), MODEL, str(THREADS), *addresses],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end(self):
        return json.loads(self._process.communicate("", timeout=programs.PATIENCE_S)[0])


class RollingRestart(unittest.TestCase):
    def setUp(self):
        self.pre_stop_s, grace, timeout, self.grace_s = timings()
        self.pods = [Pod("--drain-grace", grace, "--drain-timeout", timeout) for _ in range(3)]
        for pod in self.pods:
            pod.start()
            self.addCleanup(self.kill, pod)

    @staticmethod
    def kill(pod):
        if pod.process.poll() is None:
            pod.process.kill()
        pod.process.communicate()

    def test_no_request_fails(self):
        load = Load([pod.address for pod in self.pods])
        for pod in self.pods:
            time.sleep(self.pre_stop_s)
            code, log = pod.terminate(self.grace_s - self.pre_stop_s)
            self.assertEqual(code, 0, log)
            self.assertIn("cut_off=nothing", log)
            pod.start()
        time.sleep(2)  # the last one takes its share again
        outcome = load.end()
        print(outcome)
        self.assertEqual(outcome["failed"], 0, outcome)
        self.assertGreater(outcome["answered"], 1000)
        self.assertLess(outcome["longest_ms"], 5000)

    def test_the_load_notices_when_nobody_is_left(self):
        load = Load([pod.address for pod in self.pods])
        time.sleep(1)
        for pod in self.pods:
            pod.process.kill()
        time.sleep(8)  # longer than the pool's attempts take
        outcome = load.end()
        self.assertGreater(outcome["answered"], 0)
        self.assertGreater(outcome["failed"], 0, outcome)


if __name__ == "__main__":
    unittest.main()
