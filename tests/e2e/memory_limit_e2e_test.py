"""A daemon in a real control group with little memory: whoever asks for too much gets RESOURCE_EXHAUSTED, and the kernel's OOM killer
is never asked.

Version 1 of control groups, where the machine has its memory controller there; what version 2's files say is tested on recorded
ones (tests/backends/cpu/cgroup_test.cc)."""

import concurrent.futures
import os
import pathlib
import re
import sys
import time
import unittest

import grpc
import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402
import programs  # noqa: E402
from api import execution_pb, session_pb  # noqa: E402

MIB = 1 << 20
LIMIT = 512 * MIB
CONTROLLER = pathlib.Path("/sys/fs/cgroup/memory")
# How long clients ask for too much.
STORM_S = 10
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


class Group:
    """A control group below the one that this process is in."""

    def __init__(self, limit_bytes):
        own = re.search(r"^\d+:memory:(.*)$", pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii"), re.MULTILINE)
        self.folder = CONTROLLER / own[1].strip("/") / f"tensord-test-{os.getpid()}"
        self.folder.mkdir()
        self.write("memory.limit_in_bytes", limit_bytes)

    def write(self, name, value):
        (self.folder / name).write_text(str(value), encoding="ascii")

    def read(self, name):
        return (self.folder / name).read_text(encoding="ascii")

    def oom_kills(self):
        return int(re.search(r"^oom_kill (\d+)$", self.read("memory.oom_control"), re.MULTILINE)[1])

    def peak_bytes(self):
        return int(self.read("memory.max_usage_in_bytes"))

    def remove(self):
        self.folder.rmdir()


def group_or_skip(limit_bytes):
    try:
        return Group(limit_bytes)
    except (OSError, TypeError) as error:
        raise unittest.SkipTest(f"no control group can be made here: {error}") from error


def onnx_model(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, dtype, dims) for name, dtype, dims in inputs],
        [helper.make_tensor_value_info(name, dtype, dims) for name, dtype, dims in outputs], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def sum_model():
    """y = sum(x), of any length."""
    return onnx_model([helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
                      [("x", TensorProto.FLOAT, ["N"])], [("y", TensorProto.FLOAT, [])])


def spread_model():
    """y = sqrt(x spread over N elements): large outputs and temporaries from small requests."""
    return onnx_model([helper.make_node("Expand", ["x", "shape"], ["wide"]), helper.make_node("Sqrt", ["wide"], ["y"])],
                      [("x", TensorProto.FLOAT, [1]), ("shape", TensorProto.INT64, [1])], [("y", TensorProto.FLOAT, ["N"])])


def heavy_model(number, size_bytes):
    """A graph with a constant of so many bytes, and another one for each number."""
    weights = np.full(size_bytes // 4, number, np.float32)
    return onnx_model([helper.make_node("Add", ["x", "w"], ["wide"]), helper.make_node("ReduceMax", ["wide"], ["y"], keepdims=0)],
                      [("x", TensorProto.FLOAT, [1])], [("y", TensorProto.FLOAT, [])], [numpy_helper.from_array(weights, "w")])


class MemoryLimit(unittest.TestCase):
    def setUp(self):
        self.group = group_or_skip(LIMIT)
        self.addCleanup(self.group.remove)
        self.daemon = programs.Daemon("--devices", "cpu:0", enter=lambda: self.group.write("cgroup.procs", os.getpid()))
        self.addCleanup(self.daemon.stop)

    def run_by_value(self, client, graph_id, **inputs):
        request = execution_pb.ExecuteRequest(graph_id=graph_id)
        request.inputs.extend(api.by_value(name, value) for name, value in inputs.items())
        return client.execution.Execute(request, timeout=programs.PATIENCE_S)

    def assert_serves(self):
        """A fresh client's small run."""
        with api.Api(self.daemon.address) as client:
            answer = self.run_by_value(client, client.upload_onnx(sum_model()), x=np.ones(3, np.float32))
            self.assertEqual(api.array(answer.outputs[0].tensor), 3)
        self.assertEqual(self.group.oom_kills(), 0)

    def until_refused(self, call, most):
        """How often it went well before the first RESOURCE_EXHAUSTED."""
        for count in range(most):
            try:
                call(count)
            except grpc.RpcError as error:
                self.assertEqual(error.code(), EXHAUSTED, error)
                return count
        return self.fail(f"{most} were taken, and none was refused")

    def test_the_daemon_knows_its_limit(self):
        memory = next(line for line in self.daemon.log if " memory " in line)
        self.assertIn("limit=512MiB", memory)

    def test_tensors_that_stay_are_refused_in_time(self):
        part = np.zeros(16 * MIB // 4, np.float32)
        with api.Api(self.daemon.address) as client:
            session = client.session.CreateSession(session_pb.CreateSessionRequest()).session_id
            count = self.until_refused(lambda _: client.upload_tensor(part, session_id=session), most=32)
            self.assertGreaterEqual(count, 4)
        self.assert_serves()

    def test_a_run_that_does_not_fit_is_refused(self):
        with api.Api(self.daemon.address) as client:
            graph = client.upload_onnx(spread_model())
            one = np.ones(1, np.float32)
            self.run_by_value(client, graph, x=one, shape=np.array([4 * MIB], np.int64))
            with self.assertRaises(grpc.RpcError) as refused:
                self.run_by_value(client, graph, x=one, shape=np.array([128 * MIB], np.int64))
            self.assertEqual(refused.exception.code(), EXHAUSTED, refused.exception)
        self.assert_serves()

    def test_a_storm_of_everything_at_once_is_survived(self):
        """Requests, outputs and graphs from many clients, each of which alone would fit, beside as many tensors as may stay."""
        wide = np.ones(8 * MIB, np.float32)  # 32 MiB
        holder = api.Api(self.daemon.address)
        self.addCleanup(holder.channel.close)
        held = holder.session.CreateSession(session_pb.CreateSessionRequest()).session_id
        self.until_refused(lambda _: holder.upload_tensor(wide[:2 * MIB], session_id=held), most=64)
        end = time.monotonic() + STORM_S

        def storm(work):
            codes = {}
            with api.Api(self.daemon.address) as client:
                state = {}
                number = 0
                while time.monotonic() < end:
                    try:
                        work(client, state, number)
                        code = "OK"
                    except grpc.RpcError as error:
                        code = error.code().name
                    codes[code] = codes.get(code, 0) + 1
                    number += 1
            return codes

        def requests(client, state, _):
            state.setdefault("graph", None) or state.update(graph=client.upload_onnx(sum_model()))
            self.run_by_value(client, state["graph"], x=wide)

        def outputs(client, state, _):
            state.setdefault("graph", None) or state.update(graph=client.upload_onnx(spread_model()))
            self.run_by_value(client, state["graph"], x=np.ones(1, np.float32), shape=np.array([6 * MIB], np.int64))

        def graphs(client, _, number):
            client.upload_onnx(heavy_model(number, 12 * MIB))

        def tensors(client, state, _):
            state.setdefault("session", None) or state.update(
                session=client.session.CreateSession(session_pb.CreateSessionRequest()).session_id)
            client.upload_tensor(wide[:2 * MIB], session_id=state["session"])

        works = [requests] * 4 + [outputs] * 4 + [graphs] * 2 + [tensors]
        with concurrent.futures.ThreadPoolExecutor(len(works)) as clients:
            outcomes = list(zip((work.__name__ for work in works), clients.map(storm, works)))
        print(*outcomes, f"peak {self.group.peak_bytes() / MIB:.0f} MiB", sep="\n")
        self.assert_serves()
        seen = {code for _, codes in outcomes for code in codes}
        self.assertLessEqual(seen, {"OK", EXHAUSTED.name})
        self.assertIn(EXHAUSTED.name, seen)
        for kind in ("requests", "outputs", "graphs"):
            self.assertTrue(any(codes.get("OK") for name, codes in outcomes if name == kind), kind)


if __name__ == "__main__":
    unittest.main()
