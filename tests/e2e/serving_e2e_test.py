"""Decoding with a cache that stays in the daemon, and the end of a daemon that has work."""

import importlib.util
import os
import signal
import sys
import threading
import time
import unittest

import grpc
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import api  # noqa: E402
import programs  # noqa: E402
import slow_link  # noqa: E402
from api import execution_pb  # noqa: E402

STEPS = 64
# The whole net has 652 MB; a narrow one of the same nodes shows the same. TENSORD_WHOLE_NETS=1
# takes the whole one.
NARROW = {"layers": 2, "width": 64, "heads": 4, "vocabulary": 101}
WHOLE = {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50257}
NEVER = np.float32(-10000)


def decode_net(sizes):
    path = os.path.join(programs.SHARED, "models/make_nets.py")
    spec = importlib.util.spec_from_file_location("make_nets", path)
    make_nets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_nets)
    return make_nets.gpt2_small_decode("gpt2_small_decode", **sizes).serialize()


def causal_mask(sequence, past):
    mask = np.zeros((1, 1, sequence, past + sequence), np.float32)
    for row in range(sequence):
        mask[..., row, past + row + 1:] = NEVER
    return mask


@unittest.skipUnless(programs.SHARED, "no shared folder with models")
class DecodeTest(unittest.TestCase):

    @staticmethod
    def sent_bytes(daemon):
        """To the daemon, in all calls so far, by its own count."""
        return daemon.metric("tensord_request_bytes_sum")

    def test_a_cache_by_handle_decodes_as_the_whole_sequence_does(self):
        sizes = WHOLE if os.environ.get("TENSORD_WHOLE_NETS") else NARROW
        names = [f"{kind}_{layer}" for layer in range(sizes["layers"])
                 for kind in ("key", "value")]
        head_width = sizes["width"] // sizes["heads"]
        tokens = np.random.default_rng(7).integers(0, sizes["vocabulary"], STEPS)
        with programs.Daemon() as daemon, api.Api(daemon.address) as client:
            graph_id = client.upload_onnx(decode_net(sizes))
            session = client.session.CreateSession(
                api.session_pb.CreateSessionRequest()).session_id
            empty = np.zeros((1, sizes["heads"], 0, head_width), np.float32)
            cache = {name: client.upload_tensor(empty, session_id=session).tensor_id
                     for name in names}
            received = 0
            stepwise = []
            sent_before = self.sent_bytes(daemon)
            for step, token in enumerate(tokens):
                request = execution_pb.ExecuteRequest(graph_id=graph_id)
                request.options.session_id = session
                request.inputs.extend([
                    api.by_value("input_ids", np.array([[token]], np.int64)),
                    api.by_value("position_ids", np.array([[step]], np.int64)),
                    api.by_value("mask", causal_mask(1, step))])
                request.outputs.add(name="logits")
                for name in names:
                    request.inputs.add(name=f"past_{name}", tensor_id=cache[name], donate=True)
                    request.outputs.add(name=f"present_{name}", keep_on_device=True)
                response = client.execution.Execute(request)
                received += response.ByteSize()
                for output in response.outputs:
                    if output.name == "logits":
                        stepwise.append(api.array(output.tensor)[0, 0])
                    else:
                        cache[output.name.removeprefix("present_")] = output.handle.tensor_id
            cache_bytes = STEPS * sizes["width"] * 4 * len(names)
            logits_bytes = STEPS * sizes["vocabulary"] * 4
            # 200 bytes are a name, a handle and what is told of it. Half of the whole cache in each
            # step would be far more.
            sent = self.sent_bytes(daemon) - sent_before
            self.assertLess(sent, STEPS * (1024 + 200 * len(names)))
            self.assertLess(received, logits_bytes + STEPS * (1024 + 300 * len(names)))
            self.assertLess(STEPS * (1024 + 300 * len(names)), STEPS * cache_bytes // 8)
            self.assertEqual(daemon.metric("tensord_resident_bytes"), cache_bytes)
            tensors = client.tensor.ListTensors(api.tensor_pb.ListTensorsRequest(
                session_id=session, page_size=1000)).tensors
            self.assertEqual(len(tensors), len(names))
            self.assertEqual(sum(it.size_bytes for it in tensors), cache_bytes)

            whole = execution_pb.ExecuteRequest(graph_id=graph_id)
            whole.inputs.extend([
                api.by_value("input_ids", tokens[None].astype(np.int64)),
                api.by_value("position_ids", np.arange(STEPS, dtype=np.int64)[None]),
                api.by_value("mask", causal_mask(STEPS, 0))])
            whole.inputs.extend(api.by_value(f"past_{name}", empty) for name in names)
            whole.outputs.add(name="logits")
            for name in names:
                whole.outputs.add(name=f"present_{name}", keep_on_device=True)
            answer = client.execution.Execute(whole)
            at_once = api.array(answer.outputs[0].tensor)[0]
            np.testing.assert_allclose(np.array(stepwise), at_once, rtol=2e-4, atol=2e-4)
            for output in answer.outputs[1:]:
                kept = client.download(cache[output.name.removeprefix("present_")])
                np.testing.assert_allclose(kept, client.download(output.handle.tensor_id),
                                           rtol=2e-4, atol=2e-4)
            # Without a cache to donate, a step is refused.
            with self.assertRaises(grpc.RpcError) as refused:
                client.execution.Execute(request)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)


class WeightsByHandleTest(unittest.TestCase):
    """A model that is larger than any message may be, 2.5 GB of it with TENSORD_WHOLE_NETS."""

    TABLES = 5
    WIDTH = 1024

    def test_a_model_arrives_in_parts(self):
        rows = (1 << 17) if os.environ.get("TENSORD_WHOLE_NETS") else 1 << 8
        with programs.Daemon() as daemon, api.Api(daemon.address) as client:
            session = client.session.CreateSession(
                api.session_pb.CreateSessionRequest()).session_id
            graph = api.pb["graph"].Graph(name="tables", opset_version=17)
            graph.inputs.add(name="row", dtype=api.DTYPES[np.dtype(np.int64)])
            for table in range(self.TABLES):
                graph.initializers.add(name=f"w{table}", tensor_id=self.upload_table(
                    client, rows, 10.0 ** table, session))
                graph.nodes.add(op="Gather", inputs=[f"w{table}", "row"], outputs=[f"g{table}"])
            graph.nodes.add(op="Sum", inputs=[f"g{table}" for table in range(self.TABLES)],
                            outputs=["y"])
            graph.outputs.append("y")
            graph_id = client.graph.SubmitGraph(
                api.graph_pb.SubmitGraphRequest(graph=graph)).graph_id
            # The graph keeps them.
            client.session.CloseSession(api.session_pb.CloseSessionRequest(session_id=session))
            request = execution_pb.ExecuteRequest(graph_id=graph_id)
            request.inputs.append(api.by_value("row", np.array(rows - 1, np.int64)))
            answer = api.array(client.execution.Execute(request).outputs[0].tensor)
            np.testing.assert_array_equal(answer, np.full(self.WIDTH, 11111, np.float32))

    def upload_table(self, client, rows, value, session):
        """[rows, WIDTH] of one number, in chunks of 256 rows."""
        chunk = np.full((256, self.WIDTH), value, np.float32).tobytes()

        def requests():
            yield api.tensor_pb.UploadTensorRequest(header=api.tensor_pb.UploadTensorHeader(
                dtype=api.DTYPES[np.dtype(np.float32)], dims=[rows, self.WIDTH], session_id=session))
            for _ in range(rows // 256):
                yield api.tensor_pb.UploadTensorRequest(chunk=chunk)
        return client.tensor.UploadTensor(requests()).tensor_id


def loop_graph():
    """y = x * 1.0000001, n times: as long as it is wanted."""
    from onnx import TensorProto, helper  # pylint: disable=import-outside-toplevel
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]),
         helper.make_node("Mul", ["v", "factor"], ["next"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("v", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [4])])
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], "loop",
        [helper.make_tensor_value_info("n", TensorProto.INT64, []),
         helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
        [helper.make_tensor("factor", TensorProto.FLOAT, [], [1.0000001])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def loop_request(graph_id, trips):
    request = execution_pb.ExecuteRequest(graph_id=graph_id)
    request.inputs.extend([api.by_value("n", np.array(trips, np.int64)),
                           api.by_value("x", np.ones(4, np.float32))])
    return request


def large_answer_graph():
    """y = x[0], 4 million times."""
    from onnx import TensorProto, helper  # pylint: disable=import-outside-toplevel
    count = 4 << 20
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
            for name, size in (("x", 1), ("y", count)))
    count_of_y = helper.make_tensor("count", TensorProto.INT64, [1], [count])
    model = helper.make_model(
        helper.make_graph([helper.make_node("Expand", ["x", "count"], ["y"])], "large", [x], [y], [count_of_y]),
        opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


class TerminationTest(unittest.TestCase):

    def test_sigterm_finishes_streams_and_started_runs(self):
        daemon = programs.Daemon("--drain-timeout", "50s")
        self.addCleanup(daemon.stop)
        with api.Api(daemon.address) as client:
            graph_id = client.upload_onnx(loop_graph())
            client.execution.Execute(loop_request(graph_id, 1))
            started = client.execution.StartExecution(loop_request(graph_id, 100_000))
            go_on = threading.Event()

            def requests():
                for i in range(3):
                    yield execution_pb.ExecuteStreamRequest(
                        correlation_id=str(i), request=loop_request(graph_id, 1000))
                go_on.wait(programs.PATIENCE_S)
            stream = client.execution.ExecuteStream(requests())
            answers = [next(stream)]
            waiting = client.execution.WaitExecution.future(
                execution_pb.WaitExecutionRequest(execution_id=started.execution_id))
            codes = []
            ended = threading.Thread(target=lambda: codes.append(daemon.stop()))
            ended.start()
            with self.assertRaises(grpc.RpcError) as end:
                answers.extend(stream)
            self.assertEqual(end.exception.code(), grpc.StatusCode.UNAVAILABLE)
            # Those that were accepted have their answers; one that came late may be refused.
            self.assertTrue(all(it.HasField("response") or it.error.code == 14 for it in answers))
            state = waiting.result().execution.state
            self.assertEqual(state, execution_pb.EXECUTION_STATE_SUCCEEDED)
            go_on.set()
            ended.join()
            self.assertEqual(codes, [0])

    def test_no_large_answer_is_lost_at_sigterm(self):
        """What succeeded is what clients have, though it had not arrived when its run was over."""
        for _ in range(3):  # of a daemon that ends too early one in three shows it
            self.end_with_large_answers()

    def end_with_large_answers(self):
        daemon = programs.Daemon("--devices", "null:0", "--drain-timeout", "50s")
        self.addCleanup(daemon.stop)
        with api.Api(daemon.address) as client:
            request = execution_pb.ExecuteRequest(graph_id=client.upload_onnx(large_answer_graph()))
        request.inputs.append(api.by_value("x", np.ones(1, np.float32)))
        answered, codes = [], []

        # Clients that let a daemon send ahead what fits into its socket.
        options = [("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1),
                   ("grpc.http2.lookahead_bytes", 4 << 20), ("grpc.http2.bdp_probe", 0)]

        def run_until_refused():
            with grpc.insecure_channel(link.address, options=options) as channel:
                execute = channel.unary_unary("/tensord.v1.ExecutionService/Execute")
                while True:
                    try:
                        execute(request.SerializeToString())
                    except grpc.RpcError as error:
                        codes.append(error.code())
                        return
                    answered.append(1)
        with slow_link.SlowLink(daemon.address) as link:
            threads = [threading.Thread(target=run_until_refused) for _ in range(3)]
            for thread in threads:
                thread.start()
            while not answered:
                time.sleep(0.01)
            self.assertEqual(daemon.stop(), 0)
            for thread in threads:
                thread.join()
        self.assertEqual(len(answered), int(daemon.stopped()["succeeded"]), codes)

    def test_a_second_sigterm_ends_it_at_once(self):
        daemon = programs.Daemon("--drain-timeout", "50s")
        self.addCleanup(daemon.stop)
        with api.Api(daemon.address) as client:
            graph_id = client.upload_onnx(loop_graph())
            client.execution.StartExecution(loop_request(graph_id, 1_000_000_000))
            begin = time.monotonic()
            daemon._process.send_signal(signal.SIGTERM)  # pylint: disable=protected-access
            time.sleep(0.5)
            self.assertNotEqual(daemon.stop(), 0)
            self.assertLess(time.monotonic() - begin, 20)


if __name__ == "__main__":
    unittest.main()
