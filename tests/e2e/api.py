"""The API from Python, by stubs that are made from proto/ when they are first wanted."""

import importlib
import os
import subprocess
import sys
import tempfile

import grpc
import numpy as np

import programs

_MODULES = {"execution_service": "ExecutionService", "graph_service": "GraphService",
            "session_service": "SessionService", "tensor_service": "TensorService",
            "device_service": "DeviceService"}
CHUNK_BYTES = 1 << 20


def _make_stubs():
    folder = tempfile.mkdtemp(prefix="tensord-stubs-")
    protos = programs.source("proto")
    files = [os.path.join(base, name) for base, _, names in os.walk(protos) for name in names
             if name.endswith(".proto") and "/onnx" not in base]
    subprocess.run(
        ["protoc", "-I", protos, "--python_out", folder, "--grpc_python_out", folder,
         "--plugin", "protoc-gen-grpc_python=/usr/bin/grpc_python_plugin", *files], check=True)
    sys.path.insert(0, folder)


_make_stubs()
pb = {name: importlib.import_module(f"tensord.v1.{name}_pb2") for name in
      (*_MODULES, "types", "graph", "errors")}
_grpc = {name: importlib.import_module(f"tensord.v1.{name}_pb2_grpc") for name in _MODULES}
execution_pb = pb["execution_service"]
graph_pb = pb["graph_service"]
session_pb = pb["session_service"]
tensor_pb = pb["tensor_service"]
types_pb = pb["types"]

DTYPES = {np.dtype(np.float32): 1, np.dtype(np.int32): 6, np.dtype(np.int64): 7}
NUMPY = {number: dtype for dtype, number in DTYPES.items()}


class Api:
    """One connection to a daemon."""

    def __init__(self, address):
        self.channel = grpc.insecure_channel(
            address, options=[("grpc.max_receive_message_length", -1),
                              ("grpc.use_local_subchannel_pool", 1)])
        for name, service in _MODULES.items():
            stub = getattr(_grpc[name], f"{service}Stub")(self.channel)
            setattr(self, name.removesuffix("_service"), stub)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()

    def upload_onnx(self, model):
        """The id of a model that may be larger than a message."""
        import hashlib  # pylint: disable=import-outside-toplevel
        header = graph_pb.UploadGraphHeader(
            format=graph_pb.GRAPH_FORMAT_ONNX, size_bytes=len(model),
            sha256=hashlib.sha256(model).digest())

        def requests():
            yield graph_pb.UploadGraphRequest(header=header)
            for at in range(0, len(model), CHUNK_BYTES):
                yield graph_pb.UploadGraphRequest(chunk=model[at:at + CHUNK_BYTES])
        return self.graph.UploadGraph(requests()).graph_id

    def upload_tensor(self, array, **header):
        """The TensorInfo."""
        array = np.asarray(array, order="C")
        data = array.tobytes()

        def requests():
            yield tensor_pb.UploadTensorRequest(header=tensor_pb.UploadTensorHeader(
                dtype=DTYPES[array.dtype], dims=array.shape, **header))
            for at in range(0, len(data), CHUNK_BYTES):
                yield tensor_pb.UploadTensorRequest(chunk=data[at:at + CHUNK_BYTES])
        return self.tensor.UploadTensor(requests())

    def download(self, tensor_id):
        chunks, info = [], None
        for response in self.tensor.DownloadTensor(
                tensor_pb.DownloadTensorRequest(tensor_id=tensor_id)):
            if response.HasField("tensor"):
                info = response.tensor
            else:
                chunks.append(response.chunk)
        return np.frombuffer(b"".join(chunks), NUMPY[info.dtype]).reshape(info.dims)


def tensor(array):
    array = np.asarray(array, order="C")
    return types_pb.Tensor(dtype=DTYPES[array.dtype], dims=array.shape, data=array.tobytes())


def array(message):
    return np.frombuffer(message.data, NUMPY[message.dtype]).reshape(message.dims)


def by_value(name, value):
    return execution_pb.ExecuteInput(name=name, tensor=tensor(value))
