"""Memory stays flat over many calls."""

import gc
import os
import unittest

import numpy as np

import tcsim

PAGE = os.sysconf("SC_PAGE_SIZE")
# TCSIM_CALLS=1000000 for a long look.
CALLS = int(os.environ.get("TCSIM_CALLS", "2000"))


def resident() -> int:
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


def failing(call, *arguments, **how):
    try:
        call(*arguments, **how)
    except tcsim.Error as error:
        return error
    raise AssertionError("it was taken")


class Leaks(unittest.TestCase):
    def flat(self, call, calls, bytes_each):
        """No more than so many bytes for each call, once everything has its usual size."""
        for _ in range(max(50, calls // 4)):
            call()
        before = resident()
        for _ in range(calls):
            call()
        grown = resident() - before
        self.assertLess(grown, 2**20 + bytes_each * calls, f"{grown} bytes more after {calls} calls")

    def test_values(self):
        machine = tcsim.machine("i7-6700k")
        self.flat(lambda: tcsim.workload("ij-ik-kj", i=96, j=96, k=96), 10 * CALLS, 4)
        self.flat(lambda: machine.set({"L2.capacity": "512KiB"}).levels, CALLS, 40)
        self.flat(lambda: tcsim.machine("i7-6700k").toml(), CALLS // 10, 400)

    def test_results(self):
        machine, workload = tcsim.machine("i7-6700k"), tcsim.workload("ij-ik-kj", i=24, j=24, k=24)
        schedule = tcsim.optimize(workload, machine).schedule
        self.flat(lambda: str(tcsim.predict(workload, machine, schedule)), CALLS // 4, 100)

    def test_errors(self):
        self.flat(lambda: failing(tcsim.workload, "tccg:999"), CALLS // 4, 100)
        self.flat(lambda: failing(tcsim.predict, "ij-ik-kj", "i7-6700k", "{", sizes="i=8,j=8,k=8"), CALLS // 4, 100)

    def test_arrays(self):
        a, b = np.ones((40, 40)), np.ones((40, 40))
        self.flat(lambda: tcsim.einsum("ik,kj->ij", a, b), CALLS, 40)
        big = np.ones((200, 300))
        self.flat(lambda: tcsim.einsum("ik,jk->ij", big, big), CALLS // 20, 2000)


if __name__ == "__main__":
    unittest.main()
