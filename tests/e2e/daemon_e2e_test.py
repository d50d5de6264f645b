"""The daemon as a process: how it starts, what it refuses to start with, and how it ends."""

import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

import grpc

import programs

TENSORD = os.path.join(programs.BIN, "tensord")
ECHO = "/tensord.bench.v1.Echo/Echo"


def run(*arguments, **environment):
    done = subprocess.run([TENSORD, *arguments], capture_output=True, text=True,
                          timeout=programs.PATIENCE_S, env={**os.environ, **environment})
    return programs.Outcome(done.returncode, done.stdout, done.stderr)


class DaemonStart(unittest.TestCase):
    def test_a_wrong_option_is_one_line_that_names_it(self):
        for arguments, option, right in [
                (["--max-rank=99"], "--max-rank", "from 0 to 16"),
                (["--listen=0.0.0.0:1"], "--listen", "--insecure"),
                (["--tls-cert=x"], "--tls-cert", "not in this version"),
                (["--devices=tpu:0"], "--devices", "cpu:0"),
                (["--nonsense"], "--nonsense", "--help")]:
            outcome = run(*arguments)
            self.assertEqual(outcome.code, 2, outcome)
            self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
            self.assertIn(option, outcome.err)
            self.assertIn(right, outcome.err)

    def test_the_printed_configuration_starts_the_same_again(self):
        printed = run("--print-config", "--max-rank=5", TENSORD_MAX_NODES="77")
        self.assertEqual(printed.code, 0)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(printed.out)
            file.flush()
            self.assertEqual(run("--config", file.name, "--print-config").out, printed.out)
        self.assertIn("max-nodes: 77", printed.out)

    def test_help_and_version_are_for_people(self):
        self.assertIn("--max-message-bytes", run("--help").out)
        self.assertRegex(run("--version").out, r"^tensord \d+\.\d+\.\d+ \([0-9a-f]{16}\)\n$")

    def test_a_device_that_is_not_there_is_told(self):
        outcome = run("--devices=cuda:0", "--listen=127.0.0.1:0", "--metrics-listen=off")
        self.assertEqual(outcome.code, 1)
        self.assertIn("cuda:0", outcome.err)

    def test_a_taken_port_is_told(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            outcome = run("--listen", address, "--metrics-listen=off")
        self.assertEqual(outcome.code, 1)
        self.assertIn(address, outcome.err)


class DaemonLife(unittest.TestCase):
    def test_it_tells_its_devices_its_budget_and_its_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            ports = os.path.join(folder, "ports.json")
            unix_socket = "unix:" + os.path.join(folder, "socket")
            with programs.Daemon("--devices=cpu:0,null:0", "--port-file", ports, "--listen",
                                 unix_socket) as daemon:
                log = "".join(daemon.log)
                # The file comes after the line that Daemon waits for.
                deadline = time.monotonic() + programs.PATIENCE_S
                while not os.path.exists(ports) and time.monotonic() < deadline:
                    os.sched_yield()
                with open(ports, encoding="utf-8") as file:
                    addresses = json.load(file)
        for text in ["device=cpu:0", "device=null:0", "max_ingress_bytes=2GiB",
                     "max_message_bytes=64MiB"]:
            self.assertIn(text, log)
        self.assertEqual(addresses["grpc"][1], unix_socket)
        self.assertEqual(",".join(addresses["grpc"]), daemon.address)

    def test_a_backend_that_is_not_there_is_one_line_of_the_log(self):
        with tempfile.TemporaryDirectory() as folder:
            for options, why in [([], "driver"),
                                 (["--plugin-dir", folder], "libtensord_cuda.so")]:
                with programs.Daemon(*options) as daemon:
                    lines = [line for line in daemon.log if "backend=cuda" in line]
                    backends = daemon.ctl_json("devices")
                if "device=cuda:0" in "".join(daemon.log):  # a machine with a GPU
                    self.assertEqual((options, lines), ([], []))
                    continue
                self.assertEqual(len(lines), 1, daemon.log)
                self.assertIn("backend unavailable", lines[0])
                self.assertIn(why, lines[0])
                self.assertIn(why, json.dumps(backends))

    def test_tuning_is_on_the_metrics_page_only_where_it_is_on(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in [["--tuning", "--tuning-dir", folder], []]:
                with programs.Daemon(*options) as daemon:
                    model = programs.source("models", "digits", "model.onnx")
                    outcome = daemon.ctl("run", model, "--input", "random", "--set", "N=1")
                    self.assertEqual(outcome.code, 0, outcome.err)
                    with urllib.request.urlopen(daemon.metrics_url) as page:
                        text = page.read().decode()
                self.assertEqual("tensord_tuning_seconds_total" in text, bool(options))

    def test_bytes_that_are_no_http2_harm_nobody(self):
        with programs.Daemon("--enable-echo-for-benchmarks") as daemon:
            host, port = daemon.address.split(":")
            for junk in [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\xff" * 500,
                         os.urandom(5000), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(5000)]:
                with socket.create_connection((host, int(port))) as connection:
                    connection.sendall(junk)
            with grpc.insecure_channel(daemon.address) as channel:
                self.assertEqual(channel.unary_unary(ECHO)(b"alive"), b"alive")
            self.assertEqual(daemon.stop(), 0)

    def test_after_large_answers_it_still_ends_at_once(self):
        with programs.Daemon("--enable-echo-for-benchmarks") as daemon:
            large = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
            with grpc.insecure_channel(daemon.address, large) as channel:
                for _ in range(3):
                    channel.unary_unary(ECHO)(bytes(32 << 20))
            begin = time.monotonic()
            self.assertEqual(daemon.stop(), 0)
            # gRPC's own shutdown may take ten seconds more.
            self.assertLess(time.monotonic() - begin, 8)

    def test_a_health_watch_does_not_hold_up_the_end(self):
        with programs.Daemon("--drain-timeout=60s") as daemon:
            with grpc.insecure_channel(daemon.address) as channel:
                watch = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"")
                self.assertEqual(next(watch), b"\x08\x01")  # SERVING
                begin = time.monotonic()
                self.assertEqual(daemon.stop(), 0)
                self.assertLess(time.monotonic() - begin, 30)

    def test_a_second_signal_ends_it_at_once(self):
        with programs.Daemon("--drain-grace=300s") as daemon:
            daemon._process.send_signal(signal.SIGTERM)
            while not any("draining" in line for line in daemon.log):
                os.sched_yield()
            daemon._process.send_signal(signal.SIGINT)
            self.assertEqual(daemon._process.wait(programs.PATIENCE_S), 1)


if __name__ == "__main__":
    unittest.main()
