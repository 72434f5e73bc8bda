"""Networks: the contractions of an ONNX model, each with how often it is there."""

import os
from collections import Counter

from . import _arguments as check
from ._answers import optimize, whatif
from ._errors import ArgumentTypeError, InputError, UnsupportedError, UsageError
from ._machines import machine_argument
from ._records import Fields, html_table
from ._workloads import workload

_ELEMENTS = {1: "f32", 11: "f64"}  # onnx.TensorProto


class Layer(Fields):
    """A contraction of a network.

    Attributes:
        workload: what it computes, a Workload.
        count: how many of the network's nodes compute just that.
        nodes: their names.
        operator: "Conv", "MatMul", "Gemm" or "Einsum".
    """

    __slots__ = ()


class Network:
    """The contractions of a network. Immutable.

    Attributes:
        name: of the model.
        layers: a Layer for each different contraction, in the network's order.
        left_out: {"Relu": 17, "ConvTranspose: ...": 1}: operators that are no contraction, and nodes
            that tcsim has no workload for, with the reason.
        flops: of all layers, each as often as it is there.
    """

    def __init__(self, name, layers, left_out) -> None:
        self._name, self._layers, self._left_out = name, tuple(layers), dict(left_out)

    name = property(lambda self: self._name)
    layers = property(lambda self: self._layers)
    left_out = property(lambda self: dict(self._left_out))
    flops = property(lambda self: sum(l.count * l.workload.flops for l in self._layers))

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self):
        return iter(self._layers)

    def __repr__(self) -> str:
        nodes = sum(l.count for l in self._layers)
        return f"<tcsim.Network {self._name}: {len(self)} different contractions in {nodes} nodes>"

    def _rows(self) -> list:
        return [
            {"workload": l.workload.name, "count": l.count, "operator": l.operator, "label": l.workload.label,
             "sizes": ",".join(f"{k}={v}" for k, v in l.workload.sizes.items()), "gflop": l.workload.flops / 1e9}
            for l in self._layers
        ]

    def __str__(self) -> str:
        lines = [f"{self._name}: {self.flops / 1e9:.4g} GFLOP"]
        for row in self._rows():
            lines.append(f"  {row['count']:4} x {row['workload']:<16} {row['gflop']:10.4g} GFLOP  {row['label']}  {row['sizes']}")
        if self._left_out:
            lines.append("left out: " + ", ".join(f"{n} x {what}" for what, n in self._left_out.items()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = self._rows()
        footer = [("left out", ", ".join(f"{n} x {what}" for what, n in self._left_out.items()))]
        return html_table(self._name, list(rows[0]) if rows else [], [list(r.values()) for r in rows], footer)

    def frame(self):
        """A pandas.DataFrame with a row for each layer."""
        import pandas

        return pandas.DataFrame(self._rows())

    def optimize(self, machine="host", **how):
        """optimize() of every layer, and their sum.

        Returns:
            NetworkTime: `seconds`, `layers`, `by_bottleneck`, `text`.
        """
        on = machine_argument(machine)
        return NetworkTime(self, on, [optimize(l.workload, on, **how) for l in self._layers])

    def whatif(self, machine, vary, **how):
        """The network's time along a knob: whatif() of every layer, each as often as it is there.

        Returns:
            Fields with `knob`, `unit`, `points` (`value`, `factor`, `seconds`, `bottlenecks`: seconds by what decides).
        """
        on = machine_argument(machine)
        vary = check.text("vary", vary, "'L2.capacity=1x..4x'")
        curves = [whatif(l.workload, on, vary, **how) for l in self._layers]
        points = []
        for i in range(min(len(c.points) for c in curves)):
            seconds, bottlenecks = 0.0, Counter()
            for layer, c in zip(self._layers, curves):
                seconds += layer.count * c.points[i].predicted_seconds
                bottlenecks[c.points[i].bottleneck] += layer.count * c.points[i].predicted_seconds
            first = curves[0].points[i]
            points.append({"value": first.value, "factor": first.factor, "seconds": seconds, "bottlenecks": dict(bottlenecks)})
        knob = curves[0].vary[0]
        return Fields({"network": self._name, "machine": on.name, "knob": knob.knob, "unit": knob.unit, "points": points})

    def toml(self) -> str:
        """A suite's file, for the command line: each layer once, how often it is there as a remark."""
        lines = [f"# Of {self._name}, by tcsim.from_onnx().", "schema = 1", f"name = {_quoted(_word(self._name))}",
                 f"source = {_quoted(self._name)}"]
        for number, l in enumerate(self._layers, 1):
            lines += ["", f"[[workload]] # {number}: {l.count} x {', '.join(l.nodes[:4])}"
                      + (", ..." if len(l.nodes) > 4 else ""),
                      f"label = {_quoted(l['label'])}", f"sizes = {_quoted(l['sizes'])}", f"type = {_quoted(l.workload.type)}"]
        for what, n in self._left_out.items():
            lines.append(f"# left out: {n} x {' '.join(what.split())}")
        return "\n".join(lines) + "\n"


class NetworkTime:
    """The predicted time of a network on a machine.

    Attributes:
        seconds: of all layers, each as often as it is there, one after another.
        layers: an Optimized for each layer.
        by_bottleneck: {what decides: seconds}, the largest first.
        text: the verdict in words.
    """

    def __init__(self, network, machine, results) -> None:
        self.network, self.machine, self.layers = network, machine, tuple(results)
        times = [layer.count * r.predicted_seconds for layer, r in zip(network.layers, results)]
        self.seconds = sum(times)
        deciders = Counter()
        for r, t in zip(results, times):
            deciders[r.bottleneck] += t
        self.by_bottleneck = dict(deciders.most_common())
        slowest = max(range(len(times)), key=times.__getitem__) if times else None
        self.text = ""
        if slowest is not None:
            name, share = next(iter(self.by_bottleneck.items()))
            l = network.layers[slowest]
            self.text = (
                f"{network.name} on {machine.name}: {self.seconds * 1e3:.4g} ms in contractions; {name} decides "
                f"{100 * share / self.seconds:.0f} % of it. {l.count} x {l.workload.name} takes the most, "
                f"{100 * times[slowest] / self.seconds:.0f} %, by {results[slowest].bottleneck}."
            )

    def _rows(self) -> list:
        return [
            {"workload": l.workload.name, "count": l.count, "seconds_each": r.predicted_seconds,
             "seconds": l.count * r.predicted_seconds, "gflops": r.predicted_gflops, "bottleneck": r.bottleneck}
            for l, r in zip(self.network.layers, self.layers)
        ]

    def __str__(self) -> str:
        lines = [self.text]
        for row in self._rows():
            lines.append(f"  {row['count']:4} x {row['workload']:<16} {row['seconds'] * 1e3:10.4g} ms  "
                         f"{row['gflops']:8.4g} GFLOPS  {row['bottleneck']}")
        return "\n".join(lines)

    __repr__ = lambda self: f"<tcsim.NetworkTime {self.text}>"

    def _repr_html_(self) -> str:
        rows = self._rows()
        return html_table(self.text, list(rows[0]) if rows else [], [list(r.values()) for r in rows])

    def frame(self):
        """A pandas.DataFrame with a row for each layer."""
        import pandas

        return pandas.DataFrame(self._rows())


def _word(text: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text) or "network"


def _quoted(text: str) -> str:
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else " " for c in text) + '"'


class _LeftOut(Exception):
    """Why a node is no workload."""


def _product(extents) -> int:
    result = 1
    for extent in extents:
        result *= extent
    return result


class _Reader:
    """Reads the nodes of an ONNX graph."""

    def __init__(self, model, place, dims) -> None:
        import onnx

        self.onnx, self.place, self.dims = onnx, place, dims
        try:
            self.graph = onnx.shape_inference.infer_shapes(model).graph
        except Exception as e:  # what the package raises is its own
            raise InputError(place, f"its shapes cannot be told: {e}", "check it with onnx.checker") from None
        self.values = {v.name: v.type.tensor_type for v in [*self.graph.input, *self.graph.value_info, *self.graph.output]}
        self.constants = {t.name: t for t in self.graph.initializer}

    def shape(self, name: str) -> list:
        if name in self.constants:
            return list(self.constants[name].dims)
        if name not in self.values or not self.values[name].HasField("shape"):
            raise _LeftOut(f"the shape of {name} is not known")
        return [self.extent(d) for d in self.values[name].shape.dim]

    def extent(self, dim) -> int:
        if dim.HasField("dim_value"):
            return dim.dim_value
        if dim.dim_param in self.dims:
            return self.dims[dim.dim_param]
        raise UsageError(
            "dims", f"{self.place} leaves '{dim.dim_param}' open", f"give dims={{'{dim.dim_param}': 1}}"
        )

    def element(self, name: str) -> str:
        kind = self.constants[name].data_type if name in self.constants else self.values[name].elem_type
        if kind not in _ELEMENTS:
            raise _LeftOut(f"elements are {self.onnx.TensorProto.DataType.Name(kind).lower()}")
        return _ELEMENTS[kind]

    def attributes(self, node) -> dict:
        return {a.name: self.onnx.helper.get_attribute_value(a) for a in node.attribute}

    def contraction(self, node):
        """(label, sizes) of a node."""
        read = {"Conv": self.conv, "MatMul": self.matmul, "Gemm": self.gemm, "Einsum": self.einsum}[node.op_type]
        return read(node, self.attributes(node))

    def conv(self, node, attributes):
        image, weights = self.shape(node.input[0]), self.shape(node.input[1])
        out = self.shape(node.output[0])
        axes = len(image) - 2
        if not 1 <= axes <= 3:
            raise _LeftOut(f"{axes} axes of an image")
        same = {}
        for word, name in (("stride", "strides"), ("dilation", "dilations")):
            values = set(attributes.get(name, [1] * axes))
            if len(values) > 1:
                raise _LeftOut(f"{name} that differ by axis")
            same[word] = values.pop()
        sizes = {"n": image[0], "k": weights[0], "c": image[1]}
        sizes.update(zip(["z", "y", "x"][3 - axes:], out[2:]))
        sizes.update(zip(["t", "r", "s"][3 - axes:], weights[2:]))
        sizes.update(same)
        if attributes.get("group", 1) != 1:
            sizes["groups"] = attributes["group"]
        plain = {k: v for k, v in sizes.items() if v != 1 or k in "kczyx"}
        return f"conv{axes}d", plain

    def matmul(self, node, _):
        a, b = self.shape(node.input[0]), self.shape(node.input[1])
        if len(a) < 2 or len(b) < 2:
            raise _LeftOut("a vector")
        (m, k), n = a[-2:], b[-1]
        batch_a, batch_b = a[:-2], b[:-2]
        if _product(batch_b) == 1:
            return "mn-mk-kn", {"m": _product(batch_a) * m, "n": n, "k": k}
        if batch_a == batch_b:
            return "bmn-bmk-bkn", {"b": _product(batch_a), "m": m, "n": n, "k": k}
        raise _LeftOut("batches that differ")

    def gemm(self, node, attributes):
        a, b = self.shape(node.input[0]), self.shape(node.input[1])
        turned_a, turned_b = attributes.get("transA", 0), attributes.get("transB", 0)
        m, k = a[::-1] if turned_a else a
        n = b[0] if turned_b else b[1]
        return f"mn-{'km' if turned_a else 'mk'}-{'nk' if turned_b else 'kn'}", {"m": m, "n": n, "k": k}

    def einsum(self, node, attributes):
        if len(node.input) != 2:
            raise _LeftOut(f"{len(node.input)} operands")
        label = attributes["equation"].decode().replace(" ", "")
        sizes = {}
        for name, indices in zip(node.input, label.partition("->")[0].split(",")):
            sizes.update(zip(indices, self.shape(name)))
        return label, sizes


def from_onnx(model, *, dims=None, name=None) -> Network:
    """The contractions of an ONNX model: convolutions, matrix products (those of attention too), fully
    connected layers and einsum, each different one once with how often it is there.

    Args:
        model: the path of a file, or an onnx.ModelProto.
        dims: extents that the model leaves open, {"batch": 1}.
        name: what the network is called; the file's name otherwise.

    Returns:
        Network: `layers`, `left_out`; optimize(), whatif() and toml().

    Padding counts as part of the image, as everywhere in tcsim. What is no contraction is named in
    `left_out`. Weights are not looked at: shapes count.

    Raises:
        UsageError: for a dimension that the model leaves open and `dims` does not have.
        InputError: for a file that is no model.
        ImportError: without the package onnx.
    """
    try:
        import onnx
        import onnx.shape_inference
    except ImportError:
        raise ImportError("from_onnx() reads models by the package onnx; install onnx") from None
    dims = {} if dims is None else dict(dims)
    dims = {check.text("dims", k, "'batch'"): check.whole(f"dims {k}", v, 1, 2**40) for k, v in dims.items()}
    if isinstance(model, (str, os.PathLike)):
        place = check.text("model", model, "'model.onnx'")
        if not os.path.exists(place):
            raise UsageError(place, "there is no such file", "give the path of an ONNX model")
        try:
            # Shapes are in the model itself, whatever its weights.
            model = onnx.load(place, load_external_data=False)
        except Exception as e:
            raise InputError(place, f"it is no ONNX model: {str(e) or type(e).__name__}", "give the path of one") from None
    elif isinstance(model, onnx.ModelProto):
        place = model.graph.name or "model"
    else:
        raise ArgumentTypeError("model", f"{check._shown(model)} is no model", "give the path of a file or an onnx.ModelProto")
    name = check.text_or_none("name", name, "'resnet50'") or os.path.splitext(os.path.basename(place))[0]
    reader = _Reader(model, place, dims)
    found, left_out = {}, Counter()
    for node in reader.graph.node:
        if node.op_type not in ("Conv", "MatMul", "Gemm", "Einsum"):
            left_out[node.op_type] += 1
            continue
        try:
            label, sizes = reader.contraction(node)
            w = workload(label, sizes, type=reader.element(node.input[0]))
        except (_LeftOut, UsageError, UnsupportedError) as e:
            if isinstance(e, UsageError) and e.place == "dims":
                raise
            left_out[f"{node.op_type}: {e}"] += 1
            continue
        text = ",".join(f"{k}={v}" for k, v in sizes.items())
        found.setdefault((label, text, w.type), (w, node.op_type, []))[2].append(node.name or node.output[0])
    layers = []
    for number, ((label, text, _), (w, operator, nodes)) in enumerate(found.items(), 1):
        layers.append(Layer({"workload": w.renamed(f"{_word(name)}:{number}"), "count": len(nodes), "nodes": nodes,
                             "operator": operator, "label": label, "sizes": text}))
    return Network(name, layers, dict(left_out.most_common()))
