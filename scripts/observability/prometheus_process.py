"""A Prometheus of its own for as long as a test lasts: deploy/prometheus with a scrape each second, on a free port."""

import json
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

import metric_names

DEPLOY = metric_names.ROOT / "deploy/prometheus"


class Failed(Exception):
    pass


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def write_config(folder, targets):
    """prometheus.yml as it is shipped, with faster scrapes and these targets: {address: (namespace, pod)}."""
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(DEPLOY / pattern) for pattern in config["rule_files"]]
    blocks = [{"targets": [address], "labels": {"namespace": namespace, "pod": pod}}
              for address, (namespace, pod) in targets.items()]
    (folder / "targets").mkdir()
    (folder / "targets/test.yml").write_text(yaml.safe_dump(blocks), encoding="utf-8")
    path = folder / "prometheus.yml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return path


class Prometheus:
    """Debian's prometheus with this configuration; its data are in `folder`."""

    def __init__(self, config, folder):
        self._url = f"http://127.0.0.1:{_free_port()}"
        self._log = folder / "log"
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address={self._url.removeprefix('http://')}", "--log.level=warn"],
                stdout=log, stderr=log)
        self._await_ready()

    def _await_ready(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise Failed(f"prometheus ended: {self._log.read_text(encoding='utf-8')[-2000:]}")
            try:
                with urllib.request.urlopen(f"{self._url}/-/ready", timeout=5):
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise Failed("prometheus is not ready after 30 s")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _get(self, path, **parameters):
        data = urllib.parse.urlencode(parameters, doseq=True)
        try:
            with urllib.request.urlopen(f"{self._url}/api/v1/{path}?{data}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise Failed(json.load(error).get("error", str(error))) from error

    def query(self, expression, at=None):
        """[(labels, value)] at a time (now)."""
        parameters = {"query": expression} | ({} if at is None else {"time": at})
        data = self._get("query", **parameters)
        if data["resultType"] == "scalar":
            return [({}, float(data["result"][1]))]
        return [(series["metric"], float(series["value"][1])) for series in data["result"]]

    def query_range(self, expression, start, end, step):
        """[(labels, [(time, value)])]."""
        data = self._get("query_range", query=expression, start=start, end=end, step=step)
        return [(series["metric"], [(when, float(value)) for when, value in series["values"]])
                for series in data["result"]]

    def label_values(self, label, selector):
        return self._get(f"label/{label}/values", **{"match[]": selector})

    def rules(self):
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def targets(self):
        return self._get("targets")["activeTargets"]
