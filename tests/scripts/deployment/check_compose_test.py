"""deploy/compose is without faults, and each kind of fault that is planted in it is caught by name."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/deployment"))

import check_compose

FOLDER = ROOT / "deploy/compose"
TEXT = (FOLDER / "compose.yaml").read_text(encoding="utf-8")


class Compose(unittest.TestCase):
    def test_the_committed_file_has_no_fault(self):
        self.assertEqual(check_compose.faults(TEXT, FOLDER), [])

    def test_planted_faults(self):
        for old, new, what in (
                ("    ports:", "    portz:", "portz"),
                ("stop_grace_period: 40s", "stop_grace_period: 40x", "services.tensord.stop_grace_period"),
                ("stop_grace_period: 40s", "stop_grace_period: 25s", "stop_grace_period is 25 s, and drain-grace and drain-timeout take 25 s"),
                ('"127.0.0.1:8500:8500"', '"127.0.0.1:x:8500"', "services.tensord.ports[0]"),
                ('"127.0.0.1:9090:9090"', '"9090:9090"', "prometheus: port 9090:9090 is published to other machines"),
                ("depends_on: [prometheus]", "depends_on: [prometeus]", "depends on prometeus"),
                ("- tensord-state:/var", "- tensord-stat:/var", "there is no volume tensord-stat"),
                ("../prometheus/rules:", "../prometheus/rulez:", "../prometheus/rulez, mounted at /etc/prometheus/rules, is not there"),
                ("http://prometheus:9090", "http://prometheus:9091", "prometheus has no port 9091"),
                ("http://prometheus:9090", "http://prom:9090", "prom is no service"),
                ("grafana/grafana:11.2.0", "grafana/grafana:latest", "may be another tomorrow"),
                ("target: cpu", "target: gpu", "the Dockerfile has no target gpu"),
                ("--config.file=/etc/prometheus/", "--config.file=/etc/prom/", "nothing is mounted at /etc/prom/prometheus.yml"),
                (":/var/lib/grafana/dashboards/tensord:", ":/var/lib/grafana/boards:", "where its dashboards are looked for")):
            with self.subTest(new):
                self.assertIn(old, TEXT)
                found = check_compose.faults(TEXT.replace(old, new, 1), FOLDER)
                self.assertTrue(any(what in fault for fault in found), found)

    def test_prometheus_takes_what_is_mounted_for_it(self):
        compose = yaml.safe_load(check_compose.interpolated(TEXT))
        with tempfile.TemporaryDirectory() as container:
            for source, path in map(check_compose.split_volume, compose["services"]["prometheus"]["volumes"]):
                if source.startswith("."):
                    place = pathlib.Path(container) / path[1:]
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.symlink_to((FOLDER / source).resolve())
            done = subprocess.run(["promtool", "check", "config", f"{container}/etc/prometheus/prometheus.yml"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("2 rule files found", done.stdout)
            # The files of targets are found too: without them nothing would be scraped, and nothing said.
            self.assertEqual(len(list((pathlib.Path(container) / "etc/prometheus/targets").glob("*.yml"))), 1)

    def test_a_target_that_nothing_serves(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "deploy/compose"
            shutil.copytree(ROOT / "deploy", copy.parent)
            target = copy / "targets/tensord.yml"
            target.write_text(target.read_text(encoding="utf-8").replace("tensord:8501", "tensord:8510"), encoding="utf-8")
            self.assertEqual(check_compose.faults(TEXT, copy), ["targets/tensord.yml: tensord:8510: tensord has no port 8510"])


if __name__ == "__main__":
    unittest.main()
