"""What is exported for gem5 is Python that gem5 can run: here with stand-ins for its classes."""

import os
import subprocess
import sys
import types
import unittest

import tcsim


class Exports(unittest.TestCase):
    def test_classes_for_gem5_have_the_machines_figures(self):
        text = subprocess.run([os.environ["TCSIM"], "machine", "export", "i7-6700k", "--to", "gem5"],
                              capture_output=True, text=True, check=True).stdout
        objects = types.ModuleType("m5.objects")
        objects.Cache = type("Cache", (), {})
        for policy in ("LRURP", "FIFORP", "RandomRP", "TreePLRURP", "RRIPRP", "BRRIPRP"):
            setattr(objects, policy, type(policy, (), {}))
        sys.modules.update({"m5": types.ModuleType("m5"), "m5.objects": objects})
        space = {}
        exec(compile(text, "caches.py", "exec"), space)
        machine = tcsim.machine("i7-6700k")
        self.assertEqual(space["CLOCK"], f"{round(machine['core.frequency'])}Hz")
        self.assertEqual(len(space["CACHES"]), 3)
        for cache, level in zip(space["CACHES"], machine.levels):
            self.assertTrue(issubclass(cache, objects.Cache))
            self.assertEqual((cache.size, cache.assoc), (f"{int(level.capacity)}B", level.ways))
            self.assertIsInstance(cache.replacement_policy, objects.LRURP)


if __name__ == "__main__":
    unittest.main()
