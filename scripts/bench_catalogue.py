"""The models that scripts/bench_models.py can be asked for: where their files and data sets are, or how they are made."""

import fnmatch
import multiprocessing
import os
import pathlib
import sys

import onnx_peer

COUNTED_NETS = ["bert_minilm_l6", "bert_base", "bert_base_dynamic_int8", "gpt2_small_decode",
                "resnet50", "resnet50_qdq_zp0", "mobilenet_v2", "lstm2x512"]
IDENTITY = "identity"
RELU = "relu"
GROUPS = ["counted", "real", "nets", "single"]

# Extents for the nets' symbols: one sentence, one picture, one step behind 128 tokens, 64 steps.
SYMBOLS = {"batch": 1, "n": 1024, "sequence": 128, "time": 64, "past": 128, "total": 129}
STEP = {"sequence": 1}  # of the nets that have a past


def note(text):
    print(f"bench_models: {text}", file=sys.stderr, flush=True)


class Model:
    def __init__(self, name, path, sets, is_counted=False):
        self.name, self.path, self.sets, self.is_counted = name, path, sets, is_counted

    def arguments(self):
        return ["--model", self.path, *(part for folder in self.sets for part in ("--data", folder))]

    def megabytes(self):
        return self.path.stat().st_size >> 20


def from_folder(folder, is_counted=False):
    folder = pathlib.Path(folder)
    sets = sorted(folder.glob("test_data_set_*"))
    if not (folder / "model.onnx").exists() or not sets:
        sys.exit(f"bench_models: {folder} has no model.onnx with test_data_set_0")
    return Model(folder.name, folder / "model.onnx", sets, is_counted)


def real_names():
    shared = onnx_peer.shared_dir()
    if shared is None:
        return []
    return sorted(path.parent.name for path in (shared / "models/real").glob("*/model.onnx"))


def write_atomically(path, data):
    partial = path.with_suffix(".partial")
    partial.write_bytes(data)
    partial.rename(path)


def mlp4x1024(make_nets, name):
    """x[batch, 1024] -> y[batch, 1024]: four times Linear + GELU, small enough for a batch to pay by its launches."""
    net = make_nets.Net(name)
    x = net.input("x", ["batch", 1024])
    for _ in range(4):
        x = make_nets.gelu(net, make_nets.linear(net, x, 1024, 1024, gain=1.5))
    return net.output(x, "y", ["batch", 1024])


def negative(make_nets, name):
    """x[n] -> y[n]: answers as large as requests."""
    net = make_nets.Net(name)
    return net.output(net.op("Neg", net.input("x", ["n"])), "y", ["n"])


# Beside those of make_nets.py, by the same means.
OWN_NETS = {"mlp4x1024": mlp4x1024, "negative": negative}


def write_net(name, folder):
    """The net's file and one data set for it. In a process of its own, which gives its memory back."""
    import numpy  # pylint: disable=import-outside-toplevel
    import onnx  # pylint: disable=import-outside-toplevel
    make_nets = onnx_peer.load_make_nets()
    net = OWN_NETS[name](make_nets, name) if name in OWN_NETS else make_nets.build(name)
    symbols = SYMBOLS
    if any("past" in [dim.dim_param for dim in info.type.tensor_type.shape.dim] for info in net.inputs):
        symbols = {**SYMBOLS, **STEP}
    random = numpy.random.default_rng(1)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    for index, info in enumerate(net.inputs):
        kind = info.type.tensor_type
        shape = [dim.dim_value or symbols[dim.dim_param] for dim in kind.shape.dim]
        dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[kind.elem_type]
        value = onnx_peer.random_input(numpy, random, info.name, dtype, shape)
        tensor = onnx.numpy_helper.from_array(numpy.ascontiguousarray(value), info.name)
        write_atomically(data / f"input_{index}.pb", tensor.SerializeToString())
    # Last: the folder is whole once it is there.
    write_atomically(folder / "model.onnx", net.serialize())


def write_one_node(op, folder):
    """A graph of one node: x[1] -> y[1]."""
    from onnx import TensorProto, helper, numpy_helper  # pylint: disable=import-outside-toplevel
    import numpy  # pylint: disable=import-outside-toplevel
    (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy")
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], op.lower(), [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    tensor = numpy_helper.from_array(numpy.float32([0.5]), "x")
    write_atomically(folder / "test_data_set_0/input_0.pb", tensor.SerializeToString())
    write_atomically(folder / "model.onnx", model.SerializeToString())


def made_net(name, nets, write, *arguments):
    """The net in its folder below `nets`, written if it is not there."""
    folder = nets / name
    if not (folder / "model.onnx").exists():
        note(f"writing {folder}")
        maker = multiprocessing.Process(target=write, args=(*arguments, folder))
        maker.start()
        maker.join()
        if maker.exitcode != 0:
            sys.exit(f"bench_models: {name} was not written")
    return from_folder(folder, name in COUNTED_NETS)


class Catalogue:
    """What can be asked for by name."""

    def __init__(self):
        self.real = real_names()
        self._make_nets = onnx_peer.load_make_nets() if self.real else None

    def names(self, group):
        if self._make_nets is None:
            sys.exit("bench_models: no shared folder with models; set TENSORD_SHARED_DIR, "
                     "or name a folder with model.onnx")
        nets = list(self._make_nets.NETS)
        single = [name for name in self._make_nets.LISTED if name not in nets]
        return {"real": self.real, "counted": self.real + COUNTED_NETS, "nets": nets, "single": single,
                "all": self.real + COUNTED_NETS + [net for net in nets if net not in COUNTED_NETS] + single,
                }[group]

    def resolve(self, patterns):
        """Names and folders, each once, in the order asked for."""
        found = []
        for pattern in patterns:
            if os.path.isdir(pattern):
                matches = [from_folder(pattern).path.parent.as_posix()]
            elif pattern in GROUPS:
                matches = self.names(pattern)
            else:
                matches = fnmatch.filter(self.names("all"), pattern)
                if not matches and self._make_nets.build(pattern) is not None:
                    matches = [pattern]  # a net of one operator that is not listed
            if not matches:
                sys.exit(f"bench_models: no model is called {pattern}")
            found += [match for match in matches if match not in found]
        return found

    def open(self, name, nets):
        if name in (IDENTITY, RELU):
            return made_net(name, nets, write_one_node, name.capitalize())
        if os.path.isdir(name):
            return from_folder(name)
        if name in self.real:
            return from_folder(onnx_peer.shared_dir() / "models/real" / name, is_counted=True)
        return made_net(name, nets, write_net, name)
