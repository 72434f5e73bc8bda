"""Ctrl-C stops work, the lock is free meanwhile, and threads share a Machine."""

import multiprocessing
import os
import signal
import threading
import unittest

import numpy as np

import tcsim

# Minutes of work, were it not stopped.
LONG = dict(workload="ij-ik-kj", machine="i7-6700k", sizes="i=4000,j=4000,k=4000")


class Handled(Exception):
    pass


def in_child(queue):
    a = np.ones((300, 300))
    queue.put((tcsim.predict("ij-ik-kj", "zen5", sizes="i=96,j=96,k=96").predicted_seconds,
               float(tcsim.einsum("ik,kj->ij", a, a, threads=2)[0, 0])))


class Work(unittest.TestCase):
    def interrupt_soon(self):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        self.addCleanup(timer.join)
        timer.start()

    def test_ctrl_c_stops_it(self):
        for call in (tcsim.simulate, lambda **how: tcsim.run(repetitions=10000, **how),
                     lambda **how: tcsim.simulate(attribution=True, **how)):
            self.interrupt_soon()
            with self.assertRaises(KeyboardInterrupt):
                call(**LONG)

    def test_ctrl_c_stops_a_contraction_of_arrays(self):
        a = np.ones((3000, 3000))
        self.interrupt_soon()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                tcsim.einsum("ik,kj->ij", a, a)

    def test_a_handler_of_ones_own_is_asked(self):
        def handler(*_):
            raise Handled

        before = signal.signal(signal.SIGINT, handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        self.interrupt_soon()
        with self.assertRaises(Handled):
            tcsim.simulate(**LONG)

    def test_progress_is_told_and_may_end_it(self):
        shares = []

        def until_some(share):
            shares.append(share)
            if share > 0.001:
                raise Handled

        with self.assertRaises(Handled):
            tcsim.simulate(progress=until_some, **LONG)
        self.assertEqual(shares, sorted(shares))

    def test_other_threads_run_meanwhile(self):
        ticks, done = [0], threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks[0] += 1

        thread = threading.Thread(target=tick)
        thread.start()
        tcsim.simulate("ij-ik-kj", "i7-6700k", sizes="i=700,j=700,k=700")
        done.set()
        thread.join()
        self.assertGreater(ticks[0], 5)

    def test_threads_use_one_machine_at_the_same_time(self):
        machine = tcsim.machine("e5-2680v4")
        workload = tcsim.workload("tccg:8")
        schedule = tcsim.optimize(workload, machine).schedule
        expected = tcsim.predict(workload, machine, schedule)
        got, a = [], np.ones((200, 200))

        def work():
            for _ in range(3):
                got.append(tcsim.predict(workload, machine, schedule))
                if not (tcsim.einsum("ik,kj->ij", a, a) == 200).all():
                    got.append("wrong sums")

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(got), 18)
        self.assertTrue(all(one == expected for one in got))

    def test_a_forked_process_works_too(self):
        a = np.ones((300, 300))
        tcsim.einsum("ik,kj->ij", a, a, threads=2)
        expected = tcsim.predict("ij-ik-kj", "zen5", sizes="i=96,j=96,k=96").predicted_seconds
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=in_child, args=(queue,))
        child.start()
        self.assertEqual(queue.get(timeout=60), (expected, 300.0))
        child.join()
        self.assertEqual(child.exitcode, 0)


if __name__ == "__main__":
    unittest.main()
