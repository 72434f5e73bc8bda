"""Pictures show the numbers of their results, in the window's colours."""

import re
import os
import unittest

import matplotlib
from matplotlib import pyplot

import tcsim
from tcsim import plot

SIZES = dict(i=192, j=160, k=128)


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prediction = tcsim.predict("ij-ik-kj", "i7-6700k", sizes=SIZES)
        cls.curve = tcsim.whatif("ij-ik-kj", "i7-6700k", "memory.bandwidth=0.05x..2x:7", sizes=SIZES)

    def tearDown(self):
        pyplot.close("all")

    def test_colours_are_those_of_the_window(self):
        theme = os.path.join(os.path.dirname(__file__), "..", "..", "gui", "widgets", "theme.cpp")
        with open(theme) as file:
            text = file.read()
        body = text[text.index("Theme::colour") : text.index("Theme::dash")]
        light = {}
        names = []
        for line in body.splitlines():
            names += re.findall(r"case Ink::(\w+):", line)
            colour = re.search(r"(?::|return) (?:QColor\()?\{?\(?(0x\w\w), (0x\w\w), (0x\w\w)[)}]*;", line)
            if "return" in line:
                if colour:
                    light.update({name: "#" + "".join(c[2:] for c in colour.groups()) for name in names})
                names = []
        self.assertEqual([light[f"link{i}"] for i in range(6)], plot._LINKS)
        self.assertEqual(light["compute"], plot._COMPUTE)
        self.assertEqual([light[n] for n in ("A", "B", "C", "packedA", "packedB")], list(plot._TENSORS.values()))

    def test_a_roofline_has_a_point_for_each_link_at_the_predicted_rate(self):
        ax = plot.roofline(self.prediction)
        points = [line.get_xydata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
        flops = self.prediction.workload.flops
        self.assertEqual([tuple(p) for p in points],
                         [(flops / l.predicted_bytes, self.prediction.predicted_gflops) for l in self.prediction.levels])
        self.assertTrue(any("FMA peak" in t.get_text() for t in ax.get_legend().get_texts()))

    def test_a_curve_has_each_point_in_the_colour_of_what_decides(self):
        ax = plot.curve(self.curve)
        colours = plot.link_colours(["L1-register", "L1-L2", "L2-L3", "L3-memory"])
        for name in {p.bottleneck for p in self.curve.points}:
            line = next(l for l in ax.lines if l.get_label() == name)
            self.assertEqual(line.get_color(), colours[name])
            self.assertEqual([tuple(xy) for xy in line.get_xydata()],
                             [(p.value, p.predicted_seconds * 1e3) for p in self.curve.points if p.bottleneck == name])
        self.assertGreater(len({p.bottleneck for p in self.curve.points}), 1)

    def test_a_map_has_a_cell_for_each_pair(self):
        result = tcsim.whatif("ij-ik-kj", "i7-6700k", ["memory.bandwidth=0.1x,1x", "L3.bandwidth=0.5x,1x,1.5x"],
                              sizes=SIZES)
        ax = plot.map(result)
        self.assertEqual(len(ax.patches), 6)
        self.assertEqual(ax.get_ylabel(), "memory.bandwidth")

    def test_stacks_are_as_long_as_their_link_takes(self):
        ax = plot.traffic(self.prediction)
        for i, level in enumerate(self.prediction.levels):
            bars = [b for b in ax.patches if abs(b.get_y() + b.get_height() / 2 - i) < 0.01]
            self.assertAlmostEqual(sum(b.get_width() for b in bars), level.predicted_seconds * 1e3, places=9)
        self.assertEqual(plot.traffic(self.prediction, self.prediction, of="bytes").get_xlabel(), "bytes")

    def test_a_front_is_that_of_the_study(self):
        import pandas

        frame = pandas.DataFrame({"design": range(4), "base": [1, 0, 0, 0], "pareto": [None, 1, 1, 0],
                                  "area_mm2": [1.0, 2.0, 1.0, 3.0], "total_seconds": [5.0, 1.0, 2.0, 4.0]})
        ax = plot.pareto(frame)
        front = next(l for l in ax.lines if l.get_label() == "Pareto front")
        self.assertEqual([tuple(p) for p in front.get_xydata()], [(1, 2), (2, 1)])
        self.assertEqual(ax.get_xlabel(), "area, mm2")

    def test_axes_of_ones_own_are_drawn_into(self):
        _, ax = pyplot.subplots()
        self.assertIs(plot.roofline(self.prediction, ax=ax), ax)

    def test_what_has_no_such_picture_is_refused(self):
        for work in (lambda: plot.roofline(), lambda: plot.roofline(self.curve), lambda: plot.curve(self.prediction),
                     lambda: plot.map(self.curve), lambda: plot.traffic(self.prediction, of="lines"),
                     lambda: plot.pareto(self.prediction)):
            with self.assertRaises(tcsim.Error):
                work()


if __name__ == "__main__":
    unittest.main()
