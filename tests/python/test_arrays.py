"""NumPy arrays are contracted where they lie; what cannot be is refused with a sentence."""

import os
import random
import unittest

import numpy as np

import tcsim

SEED = int(os.environ.get("TCSIM_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)


def random_view(rng, shape, dtype, innermost_apart):
    """An array of the shape that lies in some way that the executor takes."""
    order = list(range(len(shape)))
    rng.shuffle(order)  # from the outermost inward
    padded = [shape[axis] + rng.choice([0, 0, 1, 3]) for axis in order]
    apart = rng.choice([1, 1, 2, 3]) if innermost_apart else 1
    if order:
        padded[-1] *= apart
    base = np.random.default_rng(rng.randrange(2**31)).uniform(-1, 1, padded).astype(dtype)
    slices = [slice(0, shape[axis]) for axis in order]
    if order:
        slices[-1] = slice(0, (shape[order[-1]] - 1) * apart + 1, apart)
    view = base[(*slices, ...)]
    return view.transpose([order.index(axis) for axis in range(len(shape))])


class Arrays(unittest.TestCase):
    def test_a_contraction_is_that_of_numpy(self):
        a = np.random.default_rng(1).uniform(-1, 1, (5, 6, 7, 8))
        b = np.random.default_rng(2).uniform(-1, 1, (9, 8, 10, 6))
        c = tcsim.einsum("aebf,dfce->abcd", a, b)
        np.testing.assert_allclose(c, np.einsum("aebf,dfce->abcd", a, b), rtol=1e-13, atol=1e-13)
        self.assertTrue(c.flags.c_contiguous)
        np.testing.assert_array_equal(tcsim.einsum("abcd-aebf-dfce", a, b), c)

    def test_any_lie_that_is_taken_gives_the_sums(self):
        rng = random.Random(SEED)
        print("seed", SEED)
        labels = ["ik,kj->ij", "ik,kj->ji", "aebf,dfce->abcd", "bik,bkj->bij", "ak,k->a", "k,k->", "i,j->ij", "abk,kc->cab"]
        for _ in range(60):
            label = rng.choice(labels)
            left, right, out = label.replace("->", ",").split(",")
            size = {index: rng.choice([1, 2, 3, 5, 8, 13]) for index in "abcdefijk"}
            dtype = rng.choice([np.float64, np.float32])
            a = random_view(rng, [size[i] for i in left], dtype, True)
            b = random_view(rng, [size[i] for i in right], dtype, True)
            c = random_view(rng, [size[i] for i in out], dtype, False)
            around = c if c.base is None else c.base
            before = around.copy()
            expected = np.einsum(label, a.astype(np.float64), b.astype(np.float64))
            alpha, beta = rng.choice([(1, 0), (2, 0), (-1, 1), (0.5, 3)])
            expected = alpha * expected + beta * c.astype(np.float64)
            with self.subTest(label=label, size=size, strides=(a.strides, b.strides, c.strides)):
                got = tcsim.einsum(label, a, b, out=c, alpha=alpha, beta=beta, threads=rng.choice([1, 2]))
                self.assertIs(got, c)
                tolerance = 1e-5 if dtype == np.float32 else 1e-13
                np.testing.assert_allclose(c, expected, rtol=tolerance, atol=tolerance * 20)
                c[...] = 0  # what lies between its elements is as it was
                marked = np.zeros(around.shape, bool)
                view = np.lib.stride_tricks.as_strided(
                    marked.reshape(-1)[(c.__array_interface__["data"][0] - around.__array_interface__["data"][0]) // c.itemsize:],
                    c.shape, [s // c.itemsize for s in c.strides])
                view[...] = True
                np.testing.assert_array_equal(around[~marked], before[~marked])

    def test_a_convolution_of_arrays(self):
        w = tcsim.workload("conv2d", "k=4,c=3,y=6,x=5,r=3,s=2", type="f64")
        shapes = w.shapes
        image = np.random.default_rng(3).uniform(-1, 1, shapes["A"])
        weights = np.random.default_rng(4).uniform(-1, 1, shapes["B"])
        got = tcsim.contract(w, image, weights)
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 2), axis=(2, 3))
        np.testing.assert_allclose(got, np.einsum("ncyxrs,kcrs->nkyx", windows, weights), rtol=1e-13, atol=1e-13)

    def test_arrays_are_not_copied(self):
        a, b = np.ones((200, 300)), np.ones((300, 100))
        out = np.empty((200, 100))
        address = out.__array_interface__["data"][0]
        self.assertIs(tcsim.einsum("ik,kj->ij", a, b, out=out), out)
        self.assertEqual(out.__array_interface__["data"][0], address)
        self.assertTrue((out == 300).all())
        a[:] = 2  # what was prepared reads the arrays anew
        self.assertTrue((tcsim.einsum("ik,kj->ij", a, b, out=out) == 600).all())

    def test_interleaved_arrays_do_not_overlap(self):
        base = np.zeros((8, 8))
        base[::2, :5] = 1
        out = tcsim.einsum("ik,kj->ij", base[::2, :5], np.ones((5, 6)), out=base[1::2, :6])
        self.assertTrue((out == 5).all())

    def test_a_schedule_and_a_machine_may_be_given(self):
        a, b = np.ones((8, 16)), np.ones((16, 8))
        w = tcsim.workload("ij-ik-kj", i=8, j=8, k=16)
        text = tcsim.optimize(w, "i7-6700k").schedule
        self.assertTrue((tcsim.einsum("ik,kj->ij", a, b, schedule=text, machine="i7-6700k") == 16).all())

    def test_what_cannot_be_is_refused_with_a_sentence(self):
        a, b = np.ones((4, 5)), np.ones((5, 6))
        big = np.ones((8, 10))
        read_only = np.ones((4, 6))
        read_only.flags.writeable = False
        odd = np.lib.stride_tricks.as_strided(np.ones(100), (4, 5), (8 * 7, 8 * 3))
        cases = [
            (dict(A=a[:, ::-1]), "backward"),
            (dict(A=np.broadcast_to(np.ones(5), (4, 5))), "repeats"),
            (dict(A=odd), "no whole number"),
            (dict(A=a.astype(int)), "int64"),
            (dict(A=a.astype(">f8")), "float64 or float32"),
            (dict(A=a.astype(complex)), "complex128"),
            (dict(B=b.astype(np.float32)), "same dtype"),
            (dict(B=np.ones((4, 6))), "index k is 5 in A and 4 in B"),
            (dict(A=np.ones(5)), "axes"),
            (dict(A=np.ones((0, 5))), "0"),
            (dict(A=[[1.0]]), "NumPy"),
            (dict(out=np.ones((4, 7))), "index j"),
            (dict(out=read_only), "read-only"),
            (dict(out=big[:4, ::2][:, :4].repeat(2, axis=1)[:, ::2][:4]), "j"),
            (dict(out=np.ones((4, 12))[:, ::2]), "apart"),
            (dict(out=a[:, :4]), "overlaps A"),
            (dict(beta=1), "no C"),
            (dict(threads=0), "out of range"),
            (dict(alpha="2"), "no number"),
            (dict(label="ik,kj"), ""),
            (dict(label="iik,kj->ij"), ""),
            (dict(label="ikl,kj->ij", A=np.ones((4, 5, 2))), "l"),
            (dict(schedule="groups m=i"), "schedule"),
        ]
        for change, words in cases:
            arguments = {"label": "ik,kj->ij", "A": a, "B": b, **change}
            with self.subTest(str({k: getattr(v, "shape", v) for k, v in change.items()})):
                with self.assertRaises(tcsim.Error) as raised:
                    tcsim.einsum(**arguments)
                self.assertIn(words, str(raised.exception))
                self.assertTrue(raised.exception.mend)


    def test_empty_arrays_begin_with_a_line(self):
        for shape, dtype in [((7, 5), "float64"), (3, "float32"), ((), "float64"), ((0, 4), "f8"), ([2, 3, 4], np.float32)]:
            array = tcsim.empty(shape, dtype)
            self.assertEqual(array.shape, np.empty(shape, dtype).shape)
            self.assertEqual(array.dtype, np.dtype(dtype))
            if array.size:
                self.assertEqual(array.ctypes.data % 64, 0)
            self.assertTrue(array.flags["C_CONTIGUOUS"] and array.flags["WRITEABLE"])
            array[...] = 1
        a, b = np.random.rand(9, 7), np.random.rand(7, 8)
        self.assertEqual(tcsim.einsum("ik,kj->ij", a, b).ctypes.data % 64, 0)
        for shape, dtype in [((2, -1), "f8"), ("ab", "f8"), (2.5, "f8"), ((2,), "no type"), ((2,), object), ((2**40, 2**40), "f8")]:
            with self.assertRaises(tcsim.Error):
                tcsim.empty(shape, dtype)


if __name__ == "__main__":
    unittest.main()
