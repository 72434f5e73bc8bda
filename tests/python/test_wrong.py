"""Random calls with one wrong argument: every one a clear exception, none a crash."""

import os
import random
import unittest

import numpy as np

import tcsim

SEED = int(os.environ.get("TCSIM_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)

RIGHT = {
    tcsim.workload: dict(name="ij-ik-kj", sizes="i=8,j=8,k=8"),
    tcsim.workloads: dict(name="tccg"),
    tcsim.machine: dict(name="i7-6700k"),
    tcsim.optimize: dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=8,j=8,k=8"),
    tcsim.predict: dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=8,j=8,k=8"),
    tcsim.report: dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=8,j=8,k=8"),
    tcsim.simulate: dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=8,j=8,k=8"),
    tcsim.run: dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=8,j=8,k=8", repetitions=1),
    tcsim.whatif: dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=8,j=8,k=8"),
    tcsim.bounds: dict(workload="ij-ik-kj", sizes="i=8,j=8,k=8"),
    tcsim.fuse: dict(chain="ip,pq,jq->ij", machine="i7-6700k", sizes="i=8,j=8,p=8,q=8"),
    tcsim.einsum: dict(label="ik,kj->ij", A=np.ones((4, 5)), B=np.ones((5, 6))),
    tcsim.sweep: dict(study="schema = 1\n"),
}

WRONG = {
    "chain": ["", "no such", 7, None, "\0", "T[a] += ", "ip,pq,jq->", "fourindex:99", b"fourindex:1", object()],
    "order": ["(", "A B C D", 7],
    "simulate": ["yes", 1, None],
    "name": ["", "tccg:999", "no such", 7, None, "\0", "ij-ik", "a->", "O[", b"tccg:8", object()],
    "workload": ["", "tccg:999", "no such", 7, None, "\0", "ij-ik", "O[", [], object()],
    "machine": ["", "no such", 7, None, "\0", "schema = 1\nname", "/dev/null", object()],
    "sizes": ["", "i", "i=0,j=8,k=8", "i=8", "i=x,j=1,k=1", {}, {"i": 8.5, "j": 8, "k": 8}, {"i": -1}, 7, {1: 2},
              {"i": 2**62, "j": 2**62, "k": 2**62}, "i=8,j=8,k=8,z=8"],
    "schedule": ["groups m=i", "{", "no-such-file", 7, "groups m=i n=j k=k kernel 8x8 }", "\0", object()],
    "scheme": ["[", "", 7],
    "objective": ["speed", 7, None, "energy"],
    "divide": ["yes", 1, None],
    "model": ["best", None],
    "accounting": ["fair", 7],
    "type": ["f16", 7],
    "layout": ["C", 7],
    "vary": ["L3.capacity", "L9.capacity=1x..2x", "L3.capacity=2x..", 7, ["core.frequency=1x..2x"] * 2, "=", [7]],
    "fixed_schedule": ["yes", None],
    "threads": [0, -1, "four", 1.5, None, True, 10**30],
    "repetitions": [0, 20000, "1", 1.5],
    "seed": [-1, 2**64, "1", None],
    "sample": [1, "12", 2**31],
    "rules": ["L2", "L9.write_back_miss=pass", "L2.no=1", 7],
    "attribution": ["no", None],
    "sets": ["L9", "", 7],
    "cache": ["32KB/s", "no", 0, -5, None, [None], 1.5, ""],
    "notation": ["word", None],
    "progress": ["bar", 7],
    "label": ["ik,kj", "", 7, "ik,kj->iz", "ii,ij->j"],
    "A": [None, [[1.0]], np.ones(5), np.ones((4, 5), int), np.ones((4, 5))[::-1]],
    "out": [np.ones((4, 7)), np.ones((4, 12))[:, ::2], 7],
    "alpha": ["1", None, 1j],
    "study": ["", "no such", 7, "schema = 1\n", "[[["],
    "folder": [7, "\0"],
    "no_such_argument": [1],
}


# Where None is an answer.
OPTIONAL = {tcsim.einsum: ["machine"]}


def is_clear(error) -> bool:
    """A sentence for people: not what the binding says of a call that it cannot match."""
    text = str(error)
    return len(text) > 10 and "incompatible function arguments" not in text and "_tcsim" not in text


class Wrong(unittest.TestCase):
    def check(self, call, change):
        try:
            result = call(**{**RIGHT[call], **change})
        except (tcsim.Error, TypeError) as error:
            self.assertTrue(is_clear(error), repr(error))
            if isinstance(error, tcsim.Error):
                self.assertTrue(error.problem, repr(error))
            else:
                self.assertIn("argument", str(error))
            return
        self.fail(f"it was taken: {result!r}")

    def test_every_wrong_argument_is_a_clear_exception(self):
        for call, right in RIGHT.items():
            names = call.__code__.co_varnames[: call.__code__.co_argcount + call.__code__.co_kwonlyargcount]
            for name in [*names, *(["no_such_argument"] if call not in (tcsim.workload, tcsim.workloads) else [])]:
                for value in WRONG.get(name, []):
                    if value is None and name in OPTIONAL.get(call, []):
                        continue
                    with self.subTest(call=call.__name__, name=name, value=repr(value)[:60]):
                        self.check(call, {name: value})

    def test_twenty_random_calls_with_a_wrong_argument(self):
        rng = random.Random(SEED)
        print("seed", SEED)
        for _ in range(20):
            call = rng.choice(list(RIGHT))
            code = call.__code__
            names = [n for n in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if n in WRONG]
            name = rng.choice(names)
            value = rng.choice([v for v in WRONG[name] if v is not None or name not in OPTIONAL.get(call, [])])
            with self.subTest(call=call.__name__, name=name, value=repr(value)[:60]):
                self.check(call, {name: value})

    def test_values_refuse_what_they_are_not(self):
        m = tcsim.machine("i7-6700k")
        for work in [
            lambda: m.set(),
            lambda: m.set({"L3.capacity": "many"}),
            lambda: m.set({"L3.capacity": None}),
            lambda: m.set({"L3.capacity": float("nan")}),
            lambda: m.set({"L3.capacity": -1}),
            lambda: m.set(L3_colour="red"),
            lambda: m.set(7),
            lambda: m["L3"],
            lambda: m[7],
            lambda: m.peak("f16"),
            lambda: m.derive(7),
            lambda: m.derive("a\nb"),
            lambda: tcsim.schedule("tccg:8", ""),
            lambda: tcsim.schedule("tccg:8", None),
            lambda: tcsim.contract("ik,kj->ij", np.ones((2, 2)), np.ones((2, 2))),
            lambda: tcsim.workload("tccg"),
            lambda: tcsim.workload("tccg:8", sizes="a=1"),
            lambda: tcsim.optimize(tcsim.workload("tccg:8"), m, sizes="a=1"),
        ]:
            with self.assertRaises(tcsim.Error) as raised:
                work()
            self.assertTrue(is_clear(raised.exception), repr(raised.exception))


if __name__ == "__main__":
    unittest.main()
