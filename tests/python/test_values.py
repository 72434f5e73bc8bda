"""Values are immutable, compare, read back, and show themselves."""

import ast
import os
import pickle
import unittest
import warnings

import tcsim

SMALL = dict(i=96, j=80, k=64)


class Values(unittest.TestCase):
    def setUp(self):
        self.w = tcsim.workload("ij-ik-kj", **SMALL)
        self.m = tcsim.machine("e5-2680v4")

    def test_workloads_say_what_they_are(self):
        self.assertEqual(self.w.sizes, SMALL)
        self.assertEqual((self.w.label, self.w.type, self.w.layout), ("ij-ik-kj", "f64", "row-major"))
        self.assertEqual(self.w.flops, 2 * 96 * 80 * 64)
        self.assertEqual(self.w.classes, {"m": "i", "n": "j", "k": "k", "batch": ""})
        self.assertEqual(self.w.shapes, {"A": (96, 64), "B": (64, 80), "C": (96, 80)})
        self.assertEqual(tcsim.workload("ij-ik-kj", "i=96,j=80,k=64"), self.w)
        self.assertEqual(tcsim.workload("ij-ik-kj", "i=96,j=80", k=64), self.w)
        self.assertNotEqual(tcsim.workload("ij-ik-kj", i=96, j=80, k=65), self.w)
        self.assertEqual(len(tcsim.workloads("tccg")), 36)
        self.assertEqual(tcsim.workload(tcsim.workload("tccg:8").program()).sizes, tcsim.workload("tccg:8").sizes)

    def test_nothing_changes_in_place(self):
        for value, name in [(self.w, "name"), (self.m, "name"), (tcsim.predict(self.w, self.m), "bottleneck")]:
            with self.assertRaises(AttributeError):
                setattr(value, name, "other")
        before = self.m.hash
        other = self.m.set({"L3.capacity": "70MiB"})
        self.assertEqual(self.m.hash, before)
        self.assertNotEqual(other.hash, before)
        record = tcsim.predict(self.w, self.m)
        record.to_dict()["levels"].clear()
        self.assertEqual(len(record.levels), 4)

    def test_units_go_in_as_text_and_come_back_as_si_numbers(self):
        m = self.m.set({"L2.capacity": "512KiB", "core.frequency": "3GHz", "memory.bandwidth": "20GB/s"})
        self.assertEqual((m["L2.capacity"], m["core.frequency"], m["memory.bandwidth"]), (524288.0, 3e9, 20e9))
        self.assertEqual(m.set({"L2.capacity": 2**20})["L2.capacity"], 2.0**20)
        self.assertEqual(m.set({"memory.bandwidth": 15e9})["memory.bandwidth"], 15e9)
        self.assertEqual(m.set(memory_bandwidth="0.5x")["memory.bandwidth"], 10e9)
        self.assertEqual(m.knob("L2.capacity"), (524288.0, "bytes"))
        self.assertIn("L1.bandwidth", m.knobs())
        self.assertEqual(m.levels[1].capacity, 524288.0)
        self.assertIsNone(m.levels[-1].capacity)
        self.assertGreater(m.peak(), 1e9)
        self.assertEqual(m.peak("f32"), 2 * m.peak())

    def test_a_value_that_gives_way_is_told(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.m.set({"L3.capacity": "4MiB"})
        self.assertEqual([w.category for w in told], [tcsim.MachineWarning])
        self.assertIn("L3.capacity", str(told[0].message))

    def test_machines_read_back(self):
        derived = self.m.derive("larger", {"L3.capacity": "70MiB"}, description="twice")
        self.assertEqual((derived.name, derived.description), ("larger", "twice"))
        self.assertEqual(tcsim.machine(derived.toml()), derived)
        self.assertEqual(pickle.loads(pickle.dumps(derived)), derived)
        self.assertEqual(len({derived, tcsim.machine(derived.toml()), self.m}), 2)
        paper = tcsim.machine(self.m, accounting="paper")
        self.assertEqual(paper.accounting, "paper")

    def test_schedules_are_texts_and_objects(self):
        chosen = tcsim.optimize(self.w, self.m).schedule
        self.assertEqual(tcsim.schedule(self.w, chosen.text), chosen)
        self.assertEqual(tcsim.schedule(self.w, chosen.line), chosen)
        self.assertEqual(pickle.loads(pickle.dumps(chosen)), chosen)
        node = chosen.tree
        kinds = set()
        while node["kind"] != "kernel":
            kinds.add(node["kind"])
            node = node["body"] if "body" in node else node["parts"][0]["body"]
        self.assertIn("loop", kinds)
        self.assertGreater(node["mr"] * node["nr"], 1)
        self.assertEqual(sorted("".join(chosen.groups.values())), ["i", "j", "k"])
        a = tcsim.predict(self.w, self.m, chosen)
        b = tcsim.predict(self.w, self.m, chosen.line)
        self.assertEqual(a, b)

    def test_results_show_themselves(self):
        result = tcsim.optimize(self.w, self.m)
        self.assertIn("bottleneck", str(result))
        self.assertIn("ij-ik-kj on e5-2680v4", repr(result))
        self.assertIn("<table>", result._repr_html_())
        self.assertNotIn("<script", tcsim.predict(self.w.renamed("<script>"), self.m)._repr_html_())
        self.assertIn("L2", self.m._repr_html_())
        frame = result.frame()
        self.assertEqual(list(frame["name"]), ["L1", "L2", "L3", "memory"])
        self.assertEqual(frame["predicted_bytes"].iloc[0], result.levels[0].predicted_bytes)
        self.assertEqual(dict(result.levels[0]), {k: result.levels[0][k] for k in result.levels[0]})
        kept = pickle.loads(pickle.dumps(result))
        self.assertEqual((kept, str(kept)), (result, str(result)))
        with self.assertRaisesRegex(AttributeError, "no field 'simulated_seconds'; there are"):
            result.simulated_seconds

    def test_results_become_frames(self):
        curve = tcsim.whatif(self.w, self.m, "memory.bandwidth=0.25x..1x:3")
        self.assertEqual(list(curve.frame()["factor"]), [0.25, 0.5, 1.0])
        self.assertIn("memory.bandwidth", curve.frame().columns)
        self.assertGreater(len(tcsim.whatif(self.w, self.m).frame()), 5)
        bounds = tcsim.bounds(self.w, ["16KiB", "32KiB"])
        self.assertEqual(list(bounds.frame()["cache_elements"]), [2048, 4096])
        self.assertGreaterEqual(bounds.bounds[0].lower_elements, bounds.bounds[1].lower_elements)
        simulated = tcsim.simulate(self.w, self.m)
        self.assertIn("misses", simulated.frame().columns)
        self.assertEqual(list(simulated.by_tensor().index)[0], "L1-register")

    def test_stubs_have_the_names_and_arguments_that_there_are(self):
        with open(os.path.join(os.path.dirname(tcsim.__file__), "__init__.pyi")) as file:
            stub = ast.parse(file.read())
        functions = {f.name: f for f in stub.body if isinstance(f, ast.FunctionDef)}
        classes = {c.name: c for c in stub.body if isinstance(c, ast.ClassDef)}
        for name in tcsim.__all__:
            there = getattr(tcsim, name)
            if isinstance(there, type):
                for member in classes[name].body:
                    if isinstance(member, ast.FunctionDef):
                        self.assertTrue(hasattr(there, member.name), f"{name}.{member.name}")
                continue
            said = functions[name].args
            code = there.__code__
            count = code.co_argcount + code.co_kwonlyargcount
            names = [a.arg for a in said.args + said.kwonlyargs]
            self.assertEqual(names, list(code.co_varnames[:count]), name)

    def test_every_public_name_says_what_it_is(self):
        for name in tcsim.__all__:
            self.assertTrue(getattr(tcsim, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
