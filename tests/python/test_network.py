"""Networks from ONNX: a model that is made here, with counts worked out by hand."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

import tcsim


def small_model(batch="batch"):
    f32 = TensorProto.FLOAT
    weights = {"w1": (8, 3, 3, 3), "w2": (8, 8, 3, 3), "w3": (8, 1, 3, 3), "w4": (4, 8, 1, 1), "fc": (10, 64), "qk": (16, 12)}
    node = helper.make_node
    nodes = [
        node("Conv", ["image", "w1"], ["c1"], "first", pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", "w2"], ["c2"], "second", pads=[1, 1, 1, 1]),
        node("Conv", ["c2", "w2"], ["c3"], "third", pads=[1, 1, 1, 1]),
        node("Conv", ["c3", "w3"], ["c4"], "depthwise", pads=[1, 1, 1, 1], group=8),
        node("Conv", ["c4", "w4"], ["c5"], "uneven", strides=[2, 4]),
        node("Gemm", ["features", "fc"], ["g1"], "fc", transB=1),
        node("MatMul", ["tokens", "qk"], ["m1"], "project"),
        node("MatMul", ["left", "right"], ["m2"], "attention"),
        node("Einsum", ["left", "right"], ["e1"], "sums", equation="bhik,bhkj->bhij"),
    ]
    value = helper.make_tensor_value_info
    inputs = [value("image", f32, [batch, 3, 16, 16]), value("features", f32, [batch, 64]),
              value("tokens", f32, [batch, 5, 16]), value("left", f32, [batch, 2, 5, 6]), value("right", f32, [batch, 2, 6, 7])]
    outputs = [value(name, f32, None) for name in ("c5", "g1", "m1", "m2", "e1")]
    constants = [helper.make_tensor(n, f32, s, [0.0] * int(__import__("math").prod(s))) for n, s in weights.items()]
    graph = helper.make_graph(nodes, "small", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


@unittest.skipIf(onnx is None, "the package onnx is not installed")
class Networks(unittest.TestCase):
    def setUp(self):
        self.network = tcsim.from_onnx(small_model(), dims={"batch": 2})

    def test_each_contraction_is_there_as_often_as_in_the_model(self):
        said = [(l.operator, l.count, l.label, l.sizes) for l in self.network]
        self.assertEqual(said, [
            ("Conv", 1, "conv2d", "n=2,k=8,c=3,y=8,x=8,r=3,s=3,stride=2"),
            ("Conv", 2, "conv2d", "n=2,k=8,c=8,y=8,x=8,r=3,s=3"),
            ("Conv", 1, "conv2d", "n=2,k=8,c=8,y=8,x=8,r=3,s=3,groups=8"),
            ("Gemm", 1, "mn-mk-nk", "m=2,n=10,k=64"),
            ("MatMul", 1, "mn-mk-kn", "m=10,n=12,k=16"),
            ("MatMul", 1, "bmn-bmk-bkn", "b=4,m=5,n=7,k=6"),
            ("Einsum", 1, "bhik,bhkj->bhij", "b=2,h=2,i=5,k=6,j=7"),
        ])
        self.assertEqual(self.network.layers[1].nodes, ("second", "third"))

    def test_operations_are_those_of_the_layers(self):
        by_hand = 2 * 2 * 64 * 8 * (3 * 9 + 2 * 8 * 9 + 9) + 2 * (2 * 10 * 64 + 10 * 12 * 16 + 2 * 4 * 5 * 7 * 6)
        self.assertEqual(self.network.flops, by_hand)

    def test_what_is_left_out_is_named(self):
        self.assertEqual(self.network.left_out, {"Relu": 1, "Conv: strides that differ by axis": 1})
        self.assertIn("left out: 1 x Relu", str(self.network))

    def test_an_open_dimension_is_asked_for(self):
        with self.assertRaisesRegex(tcsim.UsageError, "dims: small leaves 'batch' open; give dims={'batch': 1}"):
            tcsim.from_onnx(small_model())

    def test_a_network_has_one_verdict(self):
        times = self.network.optimize("i7-6700k")
        alone = [l.count * tcsim.optimize(l.workload, "i7-6700k").predicted_seconds for l in self.network]
        self.assertEqual(times.seconds, sum(alone))
        self.assertAlmostEqual(sum(times.by_bottleneck.values()), sum(alone), delta=1e-12)
        self.assertIn("decides", times.text)
        self.assertEqual(list(times.frame()["count"]), [1, 2, 1, 1, 1, 1, 1])

    def test_a_knob_changes_the_sum(self):
        curve = self.network.whatif("i7-6700k", "memory.bandwidth=0.5x,1x")
        self.assertEqual(len(curve.points), 2)
        self.assertLessEqual(curve.points[1].seconds, self.network.optimize("i7-6700k").seconds)
        self.assertGreaterEqual(curve.points[0].seconds, curve.points[1].seconds)

    def test_the_command_line_reads_its_suite(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "small.toml")
            with open(file, "w") as out:
                out.write(self.network.toml())
            for w, l in zip(tcsim.workloads(file), self.network):
                self.assertEqual((w.label, w.sizes, w.type), (l.workload.label, l.workload.sizes, l.workload.type))

    def test_the_command_line_lists_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "small.onnx")
            onnx.save(small_model(), file)
            call = lambda *more, **how: subprocess.run(
                [os.environ["TCSIM"], "list", "workloads", "--from", *more], capture_output=True, text=True,
                env={**os.environ, "TCSIM_PYTHON": sys.executable, **how})
            done = call(file, "--dims", "batch=2", "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads(done.stdout)["rows"]
            self.assertEqual([(r["count"], r["label"], r["gflop"]) for r in rows],
                             [(str(l.count), l.workload.label, f"{l.workload.flops / 1e9:.4g}") for l in self.network])
            self.assertIn("left out: 1 x Relu", done.stderr)
            open_ = call(file)
            self.assertEqual((open_.returncode, "give dims={'batch': 1}" in open_.stderr), (2, True))
            none = call(file + "x")
            self.assertEqual((none.returncode, "there is no such file" in none.stderr), (2, True))
            nobody = call(file, TCSIM_PYTHON="/no/such/python")
            self.assertEqual((nobody.returncode, "it is not there" in nobody.stderr), (4, True))

    def test_files_are_read_and_wrong_ones_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.onnx")
            onnx.save(small_model(batch=1), file)
            self.assertEqual(tcsim.from_onnx(file).name, "net")
            bad = os.path.join(folder, "bad.onnx")
            with open(bad, "wb") as out:
                out.write(b"\xff" * 100)
            for model, error in [(bad, tcsim.InputError), (file + "x", tcsim.UsageError), (7, tcsim.ArgumentTypeError)]:
                with self.assertRaises(error):
                    tcsim.from_onnx(model)


if __name__ == "__main__":
    unittest.main()
