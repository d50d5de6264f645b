"""Random single-node models for fuzz_graphs.py: operators with attributes, dtypes and extents by chance.

Each maker takes a Draw and returns a Case. Made for operator set 20. Values are small, so that sums round little and
integers overflow nowhere; extents are 0 or 1 now and then.
"""

import dataclasses

import numpy as np

FLOAT_UNARY = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish "
               "Identity LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt "
               "Tan Tanh ThresholdedRelu IsNaN IsInf").split()
NUMBERS = ("float32", "float32", "float64", "int32", "int64", "float16")


@dataclasses.dataclass
class Case:
    op: str
    inputs: list  # arrays, None for one that is left out
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    constants: tuple = ()  # the inputs that are initializers


class Draw:
    """Lots, all from one seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def number(self, low, high):
        """In [low, high]."""
        return int(self.random.integers(low, high + 1))

    def chance(self, share=0.5):
        return self.random.random() < share

    def pick(self, choices):
        return choices[self.number(0, len(choices) - 1)]

    def shape(self, low=1, high=4, least=1):
        rank = self.number(low, high)
        extents = [self.pick((1, 2, 3, 4, 5, 7)) for _ in range(rank)]
        if rank and least == 0 and self.chance(0.04):
            extents[self.number(0, rank - 1)] = 0
        return extents

    def array(self, shape, dtype="float32", low=-2.0, high=2.0):
        if dtype == "bool":
            return np.asarray(self.random.random(shape) < 0.5)
        if np.dtype(dtype).kind in "iu":
            least = 0 if np.dtype(dtype).kind == "u" else int(np.ceil(low * 4))
            return np.asarray(self.random.integers(least, int(high * 4) + 1, shape), dtype)
        return np.asarray(self.random.uniform(low, high, shape), dtype)

    def broadcast(self, shape):
        """A shape that broadcasts to `shape`."""
        kept = shape[self.number(0, len(shape)):]
        return [1 if self.chance(0.3) else extent for extent in kept]

    def axis(self, rank):
        axis = self.number(0, rank - 1)
        return axis - rank if self.chance(0.3) else axis

    def axes(self, rank):
        chosen = [axis for axis in range(rank) if self.chance()] or [self.number(0, rank - 1)]
        return [axis - rank if self.chance(0.3) else axis for axis in chosen]


def ints(values):
    return np.array(values, dtype=np.int64)


def unary(draw):
    return Case(draw.pick(FLOAT_UNARY), [draw.array(draw.shape(0, 4, 0))])


def binary(draw):
    op = draw.pick("Add Sub Mul Div Max Min Pow Equal Greater GreaterOrEqual Less LessOrEqual PRelu Mod".split())
    dtype = "float32" if op in ("Pow", "PRelu") else draw.pick(NUMBERS)
    shape = draw.shape(1, 4, 0)
    a, b = draw.array(shape, dtype), draw.array(draw.broadcast(shape), dtype)
    if op == "Pow":
        a = np.abs(a) + 0.1
    if op in ("Div", "Mod"):
        b = np.where(np.abs(b) < 0.5, np.ones_like(b), b)
    attributes = {"fmod": 1} if op == "Mod" and np.dtype(dtype).kind == "f" else {}
    if op != "PRelu" and draw.chance(0.3):
        a, b = b, a
        if op in ("Div", "Mod"):
            b = np.where(np.abs(b) < 0.5, np.ones_like(b), b)
        if op == "Pow":
            a = np.abs(a) + np.float32(0.1)
    return Case(op, [a, b], attributes, constants=(1,) if draw.chance() else ())


def logic(draw):
    op = draw.pick("And Or Xor BitwiseAnd BitwiseOr BitwiseXor".split())
    dtype = draw.pick(("uint8", "int32", "int64")) if op.startswith("Bit") else "bool"
    shape = draw.shape(1, 4, 0)
    return Case(op, [draw.array(shape, dtype), draw.array(draw.broadcast(shape), dtype)])


def variadic(draw):
    op = draw.pick("Sum Max Min Mean".split())
    shape = draw.shape(1, 4, 0)
    return Case(op, [draw.array(shape)] + [draw.array(draw.broadcast(shape)) for _ in range(draw.number(0, 3))])


def where(draw):
    shape = draw.shape(1, 4, 0)
    dtype = draw.pick(NUMBERS)
    return Case("Where", [draw.array(draw.broadcast(shape), "bool"), draw.array(shape, dtype),
                          draw.array(draw.broadcast(shape), dtype)])


def clip(draw):
    shape = draw.shape(0, 4, 0)
    dtype = draw.pick(("float32", "int32", "int64", "float16"))
    low, high = draw.array([], dtype, -2, 0), draw.array([], dtype, 0, 2)
    return Case("Clip", [draw.array(shape, dtype), draw.pick((low, None)), draw.pick((high, None))])


def cast(draw):
    to = draw.pick((1, 6, 7, 9, 10, 11))
    return Case("Cast", [draw.array(draw.shape(0, 4, 0), draw.pick(("float32", "int32", "int64", "bool", "uint8")))],
                {"to": to})


def reduce(draw):
    op = "Reduce" + draw.pick("L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split())
    shape = draw.shape(1, 4, 0 if "M" not in op else 1)
    x = draw.array(shape, "float32", 0.5, 2) if op == "ReduceLogSum" else draw.array(shape)
    inputs = [x]
    if draw.chance(0.8):
        inputs.append(ints(draw.axes(len(shape))))
    return Case(op, inputs, {"keepdims": draw.number(0, 1), "noop_with_empty_axes": int(draw.chance(0.2))},
                constants=(1,))


def arg_reduce(draw):
    shape = draw.shape()
    x = draw.array(shape, draw.pick(("float32", "int32")))
    return Case(draw.pick(("ArgMax", "ArgMin")), [x], {"axis": draw.axis(len(shape)), "keepdims": draw.number(0, 1),
                                                       "select_last_index": draw.number(0, 1)})


def rowwise(draw):
    shape = draw.shape(1, 4, 0)
    op = draw.pick("Softmax LogSoftmax Hardmax LpNormalization".split())
    attributes = {"axis": draw.axis(len(shape))}
    if op == "LpNormalization":
        attributes["p"] = draw.number(1, 2)
    return Case(op, [draw.array(shape)], attributes)


def transpose(draw):
    shape = draw.shape(1, 5, 0)
    perm = [int(axis) for axis in draw.random.permutation(len(shape))]
    return Case("Transpose", [draw.array(shape, draw.pick(NUMBERS))], {"perm": perm} if draw.chance(0.8) else {})


def reshape(draw):
    shape = draw.shape(1, 4)
    target = [int(extent) for extent in draw.random.permutation(shape)]
    if draw.chance():
        target[draw.number(0, len(target) - 1)] = -1
    return Case("Reshape", [draw.array(shape), ints(target)], constants=(1,) if draw.chance() else ())


def flatten(draw):
    shape = draw.shape(1, 4, 0)
    return Case("Flatten", [draw.array(shape)], {"axis": draw.number(-len(shape), len(shape))})


def squeeze(draw):
    shape = draw.shape(2, 4)
    axes = draw.axes(len(shape))
    for axis in axes:
        shape[axis] = 1
    return Case("Squeeze", [draw.array(shape), ints(axes)], constants=(1,))


def unsqueeze(draw):
    shape = draw.shape(1, 3, 0)
    return Case("Unsqueeze", [draw.array(shape), ints([draw.axis(len(shape) + 1)])], constants=(1,))


def concat(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    parts = []
    for _ in range(draw.number(1, 4)):
        extents = list(shape)
        extents[axis] = draw.number(0, 4)
        parts.append(draw.array(extents))
    return Case("Concat", parts, {"axis": axis})


def split(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    count = draw.number(1, 3)
    if draw.chance():
        sizes = [draw.number(0, 3) for _ in range(count)]
        shape[axis] = sum(sizes)
        return Case("Split", [draw.array(shape), ints(sizes)], {"axis": axis}, outputs=count, constants=(1,))
    shape[axis] = count * 2 + (draw.number(0, 1) if count > 1 else 0)
    return Case("Split", [draw.array(shape)], {"axis": axis, "num_outputs": count}, outputs=count)


def slice_(draw):
    shape = draw.shape(1, 4)
    axes = [axis for axis in range(len(shape)) if draw.chance()] or [0]
    starts = [draw.number(-9, 9) for _ in axes]
    ends = [draw.pick((draw.number(-9, 9), 2**62, -2**62)) for _ in axes]
    steps = [draw.pick((1, 1, 2, 3, -1, -2)) for _ in axes]
    return Case("Slice", [draw.array(shape), ints(starts), ints(ends), ints(axes), ints(steps)],
                constants=(1, 2, 3, 4) if draw.chance(0.7) else ())


def pad(draw):
    shape = [extent + 1 for extent in draw.shape(1, 4)]
    mode = draw.pick(("constant", "reflect", "edge", "wrap"))
    most = 1 if mode in ("reflect", "wrap") else 3
    least = -1 if mode == "constant" else 0
    pads = ints([draw.number(least, most) for _ in range(2 * len(shape))])
    inputs = [draw.array(shape), pads]
    if mode == "constant" and draw.chance():
        inputs.append(draw.array([]))
    return Case("Pad", inputs, {"mode": mode}, constants=(1,))


def tile(draw):
    shape = draw.shape(1, 4)
    return Case("Tile", [draw.array(shape), ints([draw.number(0, 3) for _ in shape])], constants=(1,))


def expand(draw):
    shape = draw.shape(1, 4)
    return Case("Expand", [draw.array(draw.broadcast(shape)), ints(shape)], constants=(1,))


def gather(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    extent = shape[axis]
    indices = draw.random.integers(-extent, extent, draw.shape(0, 2)).astype(draw.pick(("int64", "int32")))
    return Case("Gather", [draw.array(shape), indices], {"axis": axis})


def gather_elements(draw):
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    extents = [draw.number(1, extent) for extent in shape]
    indices = draw.random.integers(-shape[axis], shape[axis], extents).astype(np.int64)
    if draw.chance():
        return Case("GatherElements", [draw.array(shape), indices], {"axis": axis})
    reduction = draw.pick(("add", "mul", "max", "min"))
    return Case("ScatterElements", [draw.array(shape), indices, draw.array(extents)],
                {"axis": axis, "reduction": reduction})


def gather_nd(draw):
    shape = draw.shape(2, 4)
    length = draw.number(1, len(shape))
    count = draw.number(1, 4)
    indices = np.stack([draw.random.integers(-extent, extent, count) for extent in shape[:length]], -1).astype(np.int64)
    if draw.chance():
        return Case("GatherND", [draw.array(shape), indices])
    return Case("ScatterND", [draw.array(shape), indices, draw.array([count] + shape[length:])], {"reduction": "add"})


def one_hot(draw):
    return Case("OneHot", [draw.random.integers(-4, 4, draw.shape(1, 2)).astype(np.int64), ints([4]),
                           draw.array([2])], {"axis": draw.number(-1, 1)}, constants=(1,))


def small(draw):
    shape = draw.shape(2, 3)
    return draw.pick((
        lambda: Case("Trilu", [draw.array(shape), np.array(draw.number(-3, 3))], {"upper": draw.number(0, 1)}),
        lambda: Case("CumSum", [draw.array(shape), np.array(draw.axis(len(shape)))],
                     {"exclusive": draw.number(0, 1), "reverse": draw.number(0, 1)}),
        lambda: Case("NonZero", [draw.array(shape, draw.pick(("bool", "float32", "int32")))]),
        lambda: Case("Compress", [draw.array(shape), draw.array([shape[0]], "bool")], {"axis": 0}),
        lambda: Case("EyeLike", [draw.array(shape[:2])], {"k": draw.number(-2, 2)}),
        lambda: Case("Shape", [draw.array(shape)], {"start": draw.number(-3, 3)}),
        lambda: Case("Size", [draw.array(shape)]),
        lambda: Case("Det", [draw.array([2, 3, 3])]),
        lambda: Case("ReverseSequence", [draw.array([4, 3, 2]), ints([1, 4, 2])], {"time_axis": 0, "batch_axis": 1}),
        lambda: Case("Unique", [draw.array(shape, "int64")], {"sorted": 1}, outputs=4),
        lambda: Case("DepthToSpace", [draw.array([2, 8, 2, 3])], {"blocksize": 2, "mode": draw.pick(("DCR", "CRD"))}),
        lambda: Case("SpaceToDepth", [draw.array([2, 3, 4, 6])], {"blocksize": 2}),
        lambda: Case("Range", [np.array(1.0, np.float32), np.array(7.5, np.float32), np.array(0.75, np.float32)]),
    ))()


def top_k(draw):
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    return Case("TopK", [draw.array(shape), ints([draw.number(0, shape[axis])])],
                {"axis": axis, "largest": draw.number(0, 1)}, outputs=2, constants=(1,) if draw.chance() else ())


def matmul(draw):
    m, k, n = (draw.pick((1, 2, 5, 16, 17, 33)) for _ in range(3))
    batch = draw.shape(0, 2)
    a, b = draw.broadcast(batch) + [m, k], draw.broadcast(batch) + [k, n]
    if draw.chance(0.1):
        a = [k]
    elif draw.chance(0.1):
        b = [k]
    dtype = draw.pick(("float32", "float32", "float32", "float64", "int32"))
    return Case("MatMul", [draw.array(a, dtype), draw.array(b, dtype)], constants=(1,) if draw.chance() else ())


def gemm(draw):
    m, k, n = (draw.pick((1, 2, 5, 16, 33)) for _ in range(3))
    turns = draw.number(0, 1), draw.number(0, 1)
    a = draw.array([k, m] if turns[0] else [m, k])
    b = draw.array([n, k] if turns[1] else [k, n])
    inputs = [a, b] + ([draw.array(draw.broadcast([m, n]))] if draw.chance(0.7) else [])
    return Case("Gemm", inputs, {"transA": turns[0], "transB": turns[1], "alpha": draw.pick((1.0, 0.5)),
                                 "beta": draw.pick((1.0, 2.0))}, constants=(1,) if draw.chance() else ())


def einsum(draw):
    extents = {label: draw.number(1, 5) for label in "abcdij"}
    equation = draw.pick(("ij,jb->ib", "aij,ajb->aib", "ij->ji", "ii->i", "ij->", "ai,bi,ci->abc", "aibj,ajd->aid",
                          "...ij,...jb->...ib", "ij,ij->i", "i,j->ij"))
    inputs = []
    for term in equation.split("->", maxsplit=1)[0].split(","):
        inputs.append(draw.array([extents[label] for label in term.replace("...", "cd")]))
    return Case("Einsum", inputs, {"equation": equation})


def window(draw, spatial):
    kernel = [draw.number(1, 3) for _ in range(spatial)]
    attributes = {"kernel_shape": kernel, "strides": [draw.number(1, 2) for _ in range(spatial)]}
    if draw.chance(0.3):
        attributes["auto_pad"] = draw.pick(("SAME_UPPER", "SAME_LOWER", "VALID"))
    else:
        attributes["pads"] = [draw.number(0, extent - 1) for extent in kernel + kernel]
    return kernel, attributes


def conv(draw):
    spatial = draw.number(1, 3)
    kernel, attributes = window(draw, spatial)
    if "auto_pad" not in attributes:
        attributes["dilations"] = [draw.number(1, 2) for _ in range(spatial)]
    group, per_group, rows = draw.pick((1, 1, 2, 3)), draw.number(1, 4), draw.number(1, 9)
    shape = [draw.number(1, 2), group * per_group] + [draw.number(6, 9) for _ in range(spatial)]
    turned = draw.chance(0.3)
    weights = [group * per_group, rows] if turned else [group * rows, per_group]
    inputs = [draw.array(shape), draw.array(weights + kernel)]
    if draw.chance():
        inputs.append(draw.array([group * rows]))
    return Case("ConvTranspose" if turned else "Conv", inputs, {"group": group, **attributes},
                constants=(1, 2) if draw.chance(0.7) else ())


def pool(draw):
    spatial = draw.number(1, 3)
    _, attributes = window(draw, spatial)
    op = draw.pick("MaxPool AveragePool LpPool GlobalMaxPool GlobalAveragePool".split())
    x = draw.array([draw.number(1, 2), draw.number(1, 3)] + [draw.number(5, 8) for _ in range(spatial)])
    if op.startswith("Global"):
        return Case(op, [x])
    if op != "LpPool" and "auto_pad" not in attributes:
        attributes["ceil_mode"] = draw.number(0, 1)
    if op == "AveragePool":
        attributes["count_include_pad"] = draw.number(0, 1)
    return Case(op, [x], attributes, outputs=draw.number(1, 2) if op == "MaxPool" else 1)


def normalization(draw):
    shape = [2, 4, 3, 5]
    x = draw.array(shape)
    return draw.pick((
        lambda: Case("BatchNormalization", [x, draw.array([4]), draw.array([4]), draw.array([4]),
                                            draw.array([4], "float32", 0.1, 2)]),
        lambda: Case("InstanceNormalization", [x, draw.array([4]), draw.array([4])]),
        lambda: Case("LayerNormalization", [x, draw.array(shape[2:]), draw.array(shape[2:])], {"axis": 2}),
        lambda: Case("LayerNormalization", [x, draw.array([5])], {"axis": -1}),
        lambda: Case("LRN", [x], {"size": draw.number(1, 5), "bias": 1.5}),
        lambda: Case("MeanVarianceNormalization", [x], {"axes": draw.pick(([0, 2, 3], [1], [0, 1, 2, 3]))}),
    ))()


def quantized(draw):
    dtype = draw.pick(("uint8", "int8"))
    zero = np.array(draw.number(0, 9), dtype=dtype)
    scale = np.array(0.0625, np.float32)
    shape = draw.shape(1, 4, 0)
    return draw.pick((
        lambda: Case("QuantizeLinear", [draw.array(shape), scale, zero]),
        lambda: Case("DequantizeLinear", [draw.array(shape, dtype), scale, zero]),
        lambda: Case("DynamicQuantizeLinear", [draw.array(draw.shape(1, 3))], outputs=3),
        lambda: Case("MatMulInteger", [draw.array([3, 40], "uint8"), draw.array([40, 5], dtype),
                                       np.array(3, np.uint8), zero], constants=(1, 3)),
        lambda: Case("QLinearMatMul", [draw.array([3, 40], dtype), scale, zero, draw.array([40, 5], dtype), scale, zero,
                                       np.array(0.5, np.float32), zero], constants=(3,)),
        lambda: Case("ConvInteger", [draw.array([1, 2, 5, 5], "uint8"), draw.array([3, 2, 3, 3], "uint8"),
                                     np.array(2, np.uint8), np.array(3, np.uint8)]),
    ))()


def resize(draw):
    shape = [1, draw.number(1, 2), draw.number(2, 6), draw.number(2, 6)]
    mode = draw.pick(("nearest", "linear", "cubic"))
    attributes = {"mode": mode, "coordinate_transformation_mode": draw.pick(
        ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"))}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.pick(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes["exclude_outside"] = draw.number(0, 1)
    x = draw.array(shape)
    if draw.chance():
        scales = np.array([1, 1, draw.pick((0.5, 1.5, 2)), draw.pick((0.75, 1, 3))], np.float32)
        return Case("Resize", [x, None, scales], attributes, constants=(2,))
    sizes = ints(shape[:2] + [draw.number(1, 9), draw.number(1, 9)])
    return Case("Resize", [x, None, None, sizes], attributes, constants=(3,))


def sampling(draw):
    x = draw.array([2, 3, 5, 6])
    return draw.pick((
        lambda: Case("GridSample", [x, draw.array([2, 4, 3, 2], "float32", -1.4, 1.4)],
                     {"mode": draw.pick(("linear", "nearest", "cubic")), "align_corners": draw.number(0, 1),
                      "padding_mode": draw.pick(("zeros", "border", "reflection"))}),
        lambda: Case("RoiAlign", [x, np.abs(draw.array([3, 4], "float32", 0, 5)), ints([0, 1, 1])],
                     {"output_height": 2, "output_width": 3, "sampling_ratio": draw.number(0, 2),
                      "spatial_scale": 0.75, "mode": "avg"}),
        lambda: Case("NonMaxSuppression", [draw.array([1, 9, 4], "float32", 0, 3), draw.array([1, 2, 9]), ints([4]),
                                           np.array([0.4], np.float32)], {"center_point_box": draw.number(0, 1)}),
    ))()


def recurrent(draw):
    op, gates = draw.pick((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    direction = draw.pick(("forward", "reverse", "bidirectional"))
    count = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = draw.number(1, 5), draw.number(1, 3), draw.number(1, 5), draw.number(1, 6)
    inputs = [draw.array([steps, batch, size]), draw.array([count, gates * hidden, size], "float32", -0.5, 0.5),
              draw.array([count, gates * hidden, hidden], "float32", -0.5, 0.5)]
    inputs.append(draw.array([count, 2 * gates * hidden], "float32", -0.5, 0.5) if draw.chance() else None)
    inputs.append(draw.random.integers(1, steps + 1, batch).astype(np.int32) if draw.chance() else None)
    attributes = {"hidden_size": hidden, "direction": direction}
    if op == "GRU":
        attributes["linear_before_reset"] = draw.number(0, 1)
    return Case(op, inputs, attributes, outputs=3 if op == "LSTM" else 2, constants=(1, 2, 3))


MAKERS = (unary, unary, binary, binary, logic, variadic, where, clip, cast, reduce, reduce, arg_reduce, rowwise, transpose,
          reshape, flatten, squeeze, unsqueeze, concat, split, slice_, slice_, pad, tile, expand, gather, gather_elements,
          gather_nd, one_hot, small, small, top_k, matmul, matmul, gemm, einsum, conv, conv, conv, pool, pool,
          normalization, quantized, resize, resize, sampling, recurrent)


def make_case(seed):
    draw = Draw(seed)
    return draw.pick(MAKERS)(draw)
