#!/usr/bin/env python3
"""Trains the digit classifier and writes model.onnx with its test inputs.

    train.py [--out DIR] [--seed N]        about half a minute on one core

Writes model.onnx, test_data_set_*/input_0.pb, labels.json and sample.npy, and prints the accuracy
on the held-out fifth of the images. The expected outputs are not written here: they come from a
runtime that shares no code with this file (expected.py).

Needs numpy, scikit-learn (for its copy of the images) and onnx (to write the file). Everything
random comes from the raw PCG64 stream of one seed, which numpy keeps the same in every release; so
the split never changes, and the weights change only where the sums of numpy or its BLAS round
differently.
"""
import argparse
import json
import os
import pathlib

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a sum split among threads would round differently

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 20240613
EPOCHS, BATCH = 30, 32
LEARNING_RATE = 2e-3  # falls linearly to 0
WEIGHT_DECAY = 1e-3  # decoupled from Adam's moments; on weights alone, not biases
# Keeps the probabilities away from 0 and 1. A saturated softmax would hide small errors of a kernel
# from whoever compares outputs with the expected ones.
LABEL_SMOOTHING = 0.1
NORM_EPSILON = 1e-5
HELD_OUT = 5  # one image in so many
# Positions in the held-out part. Taken in order, not chosen.
TEST_BATCHES = {"test_data_set_0": (0, 1), "test_data_set_1": (1, 6)}
SAMPLE = 6
OPSET, IR_VERSION = 13, 8


class Random:
    def __init__(self, seed):
        self._stream = np.random.PCG64(seed)

    def permutation(self, count):
        return np.argsort(self._stream.random_raw(count), kind="stable")

    def weights(self, *shape):
        """Uniform with variance 2 / fan-in, which keeps the scale through a Relu."""
        bits = self._stream.random_raw(int(np.prod(shape))) >> np.uint64(40)
        limit = np.sqrt(6.0 / np.prod(shape[1:]))
        return ((bits / 2.0**23 - 1.0) * limit).astype(np.float32).reshape(shape)


def split(random):
    """Images as float32 [n, 1, 8, 8] in [0, 1] and their digits: (train, held out)."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    order = random.permutation(len(images))
    images, labels = images[order], digits.target[order]
    held = len(images) // HELD_OUT
    return (images[held:], labels[held:]), (images[:held], labels[:held])


def windows(x):
    """x [n, c, h, w] padded by one -> its 3x3 neighbourhoods as rows [n*h*w, c*9]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return view.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * 9)


def as_rows(x):
    return x.transpose(0, 2, 3, 1).reshape(-1, x.shape[1])


def as_planes(rows, batch):
    side = int(round((len(rows) // batch) ** 0.5))
    return np.ascontiguousarray(rows.reshape(batch, side, side, -1).transpose(0, 3, 1, 2))


class Conv:
    """3x3, stride 1, padded so that the plane keeps its size."""
    def __init__(self, random, inputs, outputs):
        self.params = [random.weights(outputs, inputs, 3, 3), np.zeros(outputs, np.float32)]

    def forward(self, x):
        weight, bias = self.params
        self._columns = windows(x)
        return as_planes(self._columns @ weight.reshape(len(weight), -1).T + bias, len(x))

    def backward(self, dy):
        weight, _ = self.params
        rows = as_rows(dy)
        self.grads = [(rows.T @ self._columns).reshape(weight.shape), rows.sum(axis=0)]
        mirrored = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3).reshape(weight.shape[1], -1)
        return as_planes(windows(dy) @ mirrored.T, len(dy))


class Norm:
    """Batch normalization per channel. Training uses each batch's own mean and variance."""
    def __init__(self, channels):
        self.params = [np.ones(channels, np.float32), np.zeros(channels, np.float32)]
        self.mean = self.variance = None

    def forward(self, x):
        if self.mean is not None:  # measured: the net is trained
            mean, variance = self.mean, self.variance
        else:
            mean, variance = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
        self._scale = 1 / np.sqrt(variance + np.float32(NORM_EPSILON))
        self._unit = (x - mean[:, None, None]) * self._scale[:, None, None]
        gain, shift = self.params
        return self._unit * gain[:, None, None] + shift[:, None, None]

    def backward(self, dy):
        dgain, dshift = (dy * self._unit).sum(axis=(0, 2, 3)), dy.sum(axis=(0, 2, 3))
        self.grads = [dgain, dshift]
        count = np.float32(dy.size // dy.shape[1])
        centred = dy - (dshift[:, None, None] + self._unit * dgain[:, None, None]) / count
        return centred * (self.params[0] * self._scale)[:, None, None]

    def measure(self, x):
        """Fixes mean and variance to those of x. No running average: the net sees all of x."""
        self.mean, self.variance = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))


class Gemm:
    def __init__(self, random, inputs, outputs):
        self.params = [random.weights(outputs, inputs), np.zeros(outputs, np.float32)]

    def forward(self, x):
        self._x = x
        return x @ self.params[0].T + self.params[1]

    def backward(self, dy):
        self.grads = [dy.T @ self._x, dy.sum(axis=0)]
        return dy @ self.params[0]


class Relu:
    params = []

    def forward(self, x):
        self._positive = x > 0
        return x * self._positive

    def backward(self, dy):
        return dy * self._positive


class MaxPool:
    """2x2, stride 2. Among equal maxima the gradient goes to the first."""
    params = []

    def forward(self, x):
        n, c, h, w = x.shape
        tiles = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(-1, 4)
        self._shape, self._winner = x.shape, tiles.argmax(axis=1)
        return tiles.max(axis=1).reshape(n, c, h // 2, w // 2)

    def backward(self, dy):
        n, c, h, w = self._shape
        tiles = np.zeros((dy.size, 4), np.float32)
        tiles[np.arange(dy.size), self._winner] = dy.reshape(-1)
        return (tiles.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5)
                .reshape(self._shape))


class Flatten:
    params = []

    def forward(self, x):
        self._shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self._shape)


def softmax(logits):
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def make_layers(random):
    return {
        "conv1": Conv(random, 1, 16), "norm1": Norm(16), "relu1": Relu(),
        "conv2": Conv(random, 16, 32), "relu2": Relu(), "pool2": MaxPool(),
        "conv3": Conv(random, 32, 32), "relu3": Relu(), "flatten": Flatten(),
        "dense4": Gemm(random, 512, 64), "relu4": Relu(), "dense5": Gemm(random, 64, 10),
    }


def forward(layers, x):
    for layer in layers.values():
        x = layer.forward(x)
    return x


class Adam:
    def __init__(self, layers):
        self._layers = [layer for layer in layers.values() if layer.params]
        self._moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in layer.params]
                         for layer in self._layers]
        self._step = 0

    def update(self, rate):
        self._step += 1
        first_bias, second_bias = 1 - 0.9**self._step, 1 - 0.999**self._step
        for layer, moments in zip(self._layers, self._moments):
            for param, grad, (first, second) in zip(layer.params, layer.grads, moments):
                first += np.float32(0.1) * (grad - first)
                second += np.float32(0.001) * (grad * grad - second)
                step = first / (np.sqrt(second / np.float32(second_bias)) + np.float32(1e-8))
                if param.ndim > 1:
                    param *= np.float32(1 - rate * WEIGHT_DECAY)
                param -= np.float32(rate / first_bias) * step


def train(layers, images, labels, random):
    adam = Adam(layers)
    target = np.full((len(labels), 10), LABEL_SMOOTHING / 10, np.float32)
    target[np.arange(len(labels)), labels] += 1 - LABEL_SMOOTHING
    batches = len(images) // BATCH  # the last, short batch of an epoch is left out
    for epoch in range(EPOCHS):
        order, loss = random.permutation(len(images)), 0.0
        for b in range(batches):
            picked = order[b * BATCH:(b + 1) * BATCH]
            probabilities = softmax(forward(layers, images[picked]))
            loss -= float((target[picked] * np.log(probabilities)).sum()) / (batches * BATCH)
            gradient = (probabilities - target[picked]) / np.float32(BATCH)
            for layer in reversed(layers.values()):
                gradient = layer.backward(gradient)
            adam.update(LEARNING_RATE * (1 - (epoch * batches + b) / (EPOCHS * batches)))
        print(f"epoch {epoch + 1:2}  loss {loss:.4f}", flush=True)
    layers["norm1"].measure(layers["conv1"].forward(images))


def make_model(layers):
    nodes, initializers, value = [], [], "image"

    def add(op_type, name, weights=(), **attributes):
        nonlocal value
        names = [f"{name}.{suffix}" for suffix, _ in weights]
        initializers.extend(numpy_helper.from_array(np.ascontiguousarray(array), full)
                            for full, (_, array) in zip(names, weights))
        output = "probabilities" if op_type == "Softmax" else f"{name}.out"
        nodes.append(helper.make_node(op_type, [value] + names, [output], name, **attributes))
        value = output

    for name, layer in layers.items():
        if isinstance(layer, Conv):
            add("Conv", name, [*zip(("weight", "bias"), layer.params)],
                kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        elif isinstance(layer, Norm):
            statistics = [("mean", layer.mean), ("variance", layer.variance)]
            add("BatchNormalization", name, [*zip(("gain", "shift"), layer.params), *statistics],
                epsilon=NORM_EPSILON)
        elif isinstance(layer, Gemm):
            add("Gemm", name, [*zip(("weight", "bias"), layer.params)], transB=1)
        elif isinstance(layer, MaxPool):
            add("MaxPool", name, kernel_shape=[2, 2], strides=[2, 2])
        else:
            add(type(layer).__name__, name)
    add("Softmax", "softmax", axis=1)

    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        initializers, doc_string="Which digit is drawn? Pixels are 0 (paper) to 1 (ink).")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                              ir_version=IR_VERSION, producer_name="models/digits/train.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--seed", type=int, default=SEED, help="of split and weights alike")
    arguments = parser.parse_args()
    out, random = arguments.out, Random(arguments.seed)

    (images, labels), (held_images, held_labels) = split(random)
    layers = make_layers(random)
    train(layers, images, labels, random)
    right = int((forward(layers, held_images).argmax(axis=1) == held_labels).sum())
    train_right = int((forward(layers, images).argmax(axis=1) == labels).sum())
    print(f"training images: {train_right} of {len(labels)} right")
    print(f"held-out images: {right} of {len(held_labels)} right, "
          f"{100 * right / len(held_labels):.2f} %")

    out.mkdir(parents=True, exist_ok=True)
    (out / "model.onnx").write_bytes(make_model(layers).SerializeToString())
    truth = {}
    for name, (begin, end) in TEST_BATCHES.items():
        (out / name).mkdir(exist_ok=True)
        tensor = numpy_helper.from_array(held_images[begin:end], "image")
        (out / name / "input_0.pb").write_bytes(tensor.SerializeToString())
        truth[name] = held_labels[begin:end].tolist()
    np.save(out / "sample.npy", held_images[SAMPLE:SAMPLE + 1])
    truth["sample.npy"] = held_labels[SAMPLE:SAMPLE + 1].tolist()
    (out / "labels.json").write_text(json.dumps(truth, indent=2) + "\n")


if __name__ == "__main__":
    main()
