"""The module's numbers are the command line's, to the last digit."""

import json
import os
import subprocess
import tempfile
import unittest

import tcsim

SMALL = {"i": 96, "j": 80, "k": 64}
SMALL_TEXT = "i=96,j=80,k=64"
SCHEDULE = "groups m=i n=j k=k for n by 40 { for k by 32 { for m by 48 { for n by 6 { for m by 8 { kernel 8x6 } } } } }"
CONV = "k=16,c=8,y=14,x=14,r=3,s=3"
# What is measured, or says how long the search took.
MEASURED = {"seconds_to_solve", "repetitions_seconds", "processor_seconds", "processor_share", "left_out", "disturbed"}


def without_measured(value):
    if isinstance(value, dict):
        return {k: without_measured(v) for k, v in value.items() if k not in MEASURED and not k.startswith("measured_")}
    if isinstance(value, list):
        return [without_measured(one) for one in value]
    return value


def command_line(*arguments):
    done = subprocess.run(
        [os.environ["TCSIM"], *arguments, "--format", "json", "--quiet"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


CHAIN = "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]"
# Each with the call that says the same.
CALLS = [
    (["fuse", CHAIN, "--size", "a=60,b=50,p=40,q=30", "--machine", "i7-6700k", "--simulate"],
     lambda: tcsim.fuse(CHAIN, "i7-6700k", sizes="a=60,b=50,p=40,q=30", simulate=True)),
    (["fuse", "ap,pq,bq->ab", "--size", "a=60,b=50,p=40,q=30", "--machine", "zen5", "--type", "f32"],
     lambda: tcsim.fuse("ap,pq,bq->ab", "zen5", sizes={"a": 60, "b": 50, "p": 40, "q": 30}, type="f32")),
    (["optimize", "tccg:8", "--machine", "i7-6700k"], lambda: tcsim.optimize("tccg:8", "i7-6700k")),
    (["optimize", "tccg:29", "--machine", "e5-2680v4"], lambda: tcsim.optimize("tccg:29", "e5-2680v4")),
    (["optimize", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "zen5"],
     lambda: tcsim.optimize("ij-ik-kj", "zen5", sizes=SMALL)),
    (["optimize", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--divide"],
     lambda: tcsim.optimize("ij-ik-kj", "i7-6700k", sizes=SMALL, divide=True)),
    (["optimize", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--objective", "sum"],
     lambda: tcsim.optimize("ij-ik-kj", "i7-6700k", sizes=SMALL, objective="sum")),
    (["optimize", "ik,kj->ij", "--size", SMALL_TEXT, "--machine", "gold-5220", "--type", "f32"],
     lambda: tcsim.optimize(tcsim.workload("ik,kj->ij", SMALL, type="f32"), "gold-5220")),
    (["optimize", "conv2d", "--size", CONV, "--machine", "i9-7940x"],
     lambda: tcsim.optimize("conv2d", "i9-7940x", sizes=CONV)),
    (["predict", "tccg:3", "--machine", "i7-6700k", "--accounting", "paper"],
     lambda: tcsim.predict("tccg:3", "i7-6700k", accounting="paper")),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--schedule", SCHEDULE],
     lambda: tcsim.predict("ij-ik-kj", "i7-6700k", SCHEDULE, sizes=SMALL)),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--schedule", SCHEDULE],
     lambda: tcsim.predict(tcsim.workload("ij-ik-kj", SMALL), tcsim.machine("i7-6700k"),
                           tcsim.schedule(tcsim.workload("ij-ik-kj", SMALL), SCHEDULE))),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--model", "listing3"],
     lambda: tcsim.predict("ij-ik-kj", "i7-6700k", sizes=SMALL, model="listing3")),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--set", "L3.capacity=64MiB"],
     lambda: tcsim.predict("ij-ik-kj", tcsim.machine("i7-6700k").set({"L3.capacity": "64MiB"}), sizes=SMALL)),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--set", "memory.bandwidth=1.5x"],
     lambda: tcsim.predict("ij-ik-kj", tcsim.machine("i7-6700k").set(memory_bandwidth="1.5x"), sizes=SMALL)),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "e5-2680v4-batched"],
     lambda: tcsim.predict("ij-ik-kj", "e5-2680v4-batched", sizes=SMALL)),
    (["predict", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "zen5", "--layout", "column-major"],
     lambda: tcsim.predict(tcsim.workload("ij-ik-kj", i=96, j=80, k=64, layout="column-major"), "zen5")),
    (["predict", "resnet18:2", "--machine", "i7-6700k"], lambda: tcsim.predict("resnet18:2", "i7-6700k")),
    (["predict", "resnet18:2", "--machine", "i7-6700k", "--image-layout", "nhwc"],
     lambda: tcsim.predict(tcsim.workload("resnet18:2", image_layout="nhwc"), "i7-6700k")),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k"],
     lambda: tcsim.simulate("ij-ik-kj", "i7-6700k", sizes=SMALL)),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--attribution"],
     lambda: tcsim.simulate("ij-ik-kj", "i7-6700k", sizes=SMALL, attribution=True)),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--sets", "L1"],
     lambda: tcsim.simulate("ij-ik-kj", "i7-6700k", sizes=SMALL, sets="L1")),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--timeline", "7", "--timeline-part", "99..2000"],
     lambda: tcsim.simulate("ij-ik-kj", "i7-6700k", sizes=SMALL, timeline=7, timeline_part=(99, 2000))),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "e5-2680v4", "--sample", "12", "--seed", "7"],
     lambda: tcsim.simulate("ij-ik-kj", "e5-2680v4", sizes=SMALL, sample=12, seed=7)),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--rule", "L2.write_back_miss=pass",
      "--no-drain"],
     lambda: tcsim.simulate("ij-ik-kj", "i7-6700k", sizes=SMALL, rules="L2.write_back_miss=pass", drain=False)),
    (["simulate", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--set", "L2.replacement=fifo"],
     lambda: tcsim.simulate("ij-ik-kj", tcsim.machine("i7-6700k", "L2.replacement=fifo"), sizes=SMALL)),
    (["run", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--repetitions", "1", "--untuned"],
     lambda: tcsim.run("ij-ik-kj", "i7-6700k", sizes=SMALL, repetitions=1)),
    (["whatif", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k"],
     lambda: tcsim.whatif("ij-ik-kj", "i7-6700k", sizes=SMALL)),
    (["whatif", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--vary", "memory.bandwidth=0.1x..2x:5"],
     lambda: tcsim.whatif("ij-ik-kj", "i7-6700k", "memory.bandwidth=0.1x..2x:5", sizes=SMALL)),
    (["whatif", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--vary", "L2.bandwidth=0.2x,1x",
      "--vary", "L3.bandwidth=0.2x,1x", "--schedule", SCHEDULE],
     lambda: tcsim.whatif("ij-ik-kj", "i7-6700k", ["L2.bandwidth=0.2x,1x", "L3.bandwidth=0.2x,1x"], sizes=SMALL,
                          schedule=SCHEDULE)),
    (["bounds", "ij-ik-kj", "--size", SMALL_TEXT], lambda: tcsim.bounds("ij-ik-kj", sizes=SMALL)),
    (["bounds", "tccg:8", "--cache", "32KiB", "--cache", "4096"],
     lambda: tcsim.bounds(tcsim.workload("tccg:8"), ["32KiB", 4096])),
    (["bounds", "ap,pq,bq->ab", "--size", "a=30,b=30,p=20,q=20", "--accounting", "paper"],
     lambda: tcsim.bounds("ap,pq,bq->ab", sizes={"a": 30, "b": 30, "p": 20, "q": 20}, accounting="paper")),
    (["report", "ij-ik-kj", "--size", SMALL_TEXT, "--machine", "i7-6700k", "--no-simulate", "--no-run"],
     lambda: tcsim.report("ij-ik-kj", "i7-6700k", sizes=SMALL)),
]


class Numbers(unittest.TestCase):
    maxDiff = 2000

    def test_there_are_thirty_four_calls(self):
        self.assertEqual(len(CALLS), 34)

    def test_records_are_equal_to_the_last_digit(self):
        for arguments, call in CALLS:
            with self.subTest(" ".join(arguments)):
                record = call()
                self.assertEqual(without_measured(record.to_dict()), without_measured(command_line(*arguments)))

    def test_tables_are_the_same(self):
        for arguments, call in [CALLS[8], CALLS[17], CALLS[24]]:
            with self.subTest(" ".join(arguments)):
                done = subprocess.run([os.environ["TCSIM"], *arguments], capture_output=True, text=True, check=True)
                self.assertEqual(str(call()), done.stdout)

    def test_errors_have_the_same_text(self):
        for arguments, call in [
            (["predict", "ij-ik-kj", "--machine", "zen5"], lambda: tcsim.predict("ij-ik-kj", "zen5")),
            (["predict", "tccg:99", "--machine", "zen5"], lambda: tcsim.predict("tccg:99", "zen5")),
            (["predict", "tccg:8", "--machine", "zen9"], lambda: tcsim.predict("tccg:8", "zen9")),
            (["predict", "tccg:8", "--machine", "zen5", "--set", "L9.capacity=1MiB"],
             lambda: tcsim.predict("tccg:8", tcsim.machine("zen5", {"L9.capacity": "1MiB"}))),
            (["predict", "tccg:8", "--machine", "zen5", "--schedule", "groups m=a"],
             lambda: tcsim.predict("tccg:8", "zen5", "groups m=a")),
            (["whatif", "tccg:8", "--machine", "zen5", "--vary", "L3.capacity"],
             lambda: tcsim.whatif("tccg:8", "zen5", "L3.capacity")),
            (["simulate", "tccg:8", "--machine", "zen5", "--rule", "L2=1"],
             lambda: tcsim.simulate("tccg:8", "zen5", rules="L2=1")),
        ]:
            with self.subTest(" ".join(arguments)):
                done = subprocess.run([os.environ["TCSIM"], *arguments], capture_output=True, text=True)
                with self.assertRaises(tcsim.Error) as raised:
                    call()
                self.assertEqual(f"tcsim: {raised.exception}", done.stderr.strip())
                self.assertTrue(raised.exception.problem and raised.exception.mend)

    def test_a_sweep_has_the_results_of_the_command_line(self):
        study = """
schema = 1
name = "small"
workloads = ["tccg:8"]
machines = ["i7-6700k"]
compute = "predict"
[[knob]]
name = "L3.capacity"
range = "8MiB..32MiB"
points = 3
"""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "small.toml")
            with open(file, "w") as out:
                out.write(study)
            subprocess.run([os.environ["TCSIM"], "sweep", file, "--out", folder + "/a", "--threads", "1", "--quiet"],
                           check=True, capture_output=True)
            result = tcsim.sweep(file, folder + "/b")
            read = []
            for which in "ab":
                with open(os.path.join(folder, which, "results.csv")) as results:
                    read.append(results.read())
            self.assertEqual(*read)
            self.assertEqual(len(result.frame()), read[0].count("\n") - 1)
            self.assertIn("results in", str(result))


if __name__ == "__main__":
    unittest.main()
