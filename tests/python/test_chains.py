"""Paths of other libraries become chains that compute the same."""

import re
import unittest

import numpy as np

import tcsim


def evaluated(chain, tensors):
    """The statements, one after another, by NumPy."""
    for statement in chain.split("; "):
        names = re.findall(r"(\w+)\[([^\]]*)\]", statement)
        (out, kept), (a, ia), (b, ib) = [(name, indices.replace(",", "")) for name, indices in names]
        tensors[out] = np.einsum(f"{ia},{ib}->{kept}", tensors[a], tensors[b])
    return tensors[out]


class Chains(unittest.TestCase):
    def test_a_path_of_numpy_gives_the_same_sums(self):
        random = np.random.default_rng(5)
        for equation in ["ap,bq,cr,pqrs->abcs", "ap,bq,pq->ab", "ij,jk,kl,lm->im", "ab,ab,ab->", "ab,bc->ca"]:
            size = {i: 2 + n for n, i in enumerate(sorted(set(equation) & set("abcijklmpqrs")))}
            terms = equation.split("->")[0].split(",")
            arrays = [random.uniform(-1, 1, [size[i] for i in term]) for term in terms]
            path = np.einsum_path(equation, *arrays, optimize="optimal")[0]
            chain = tcsim.chain_from_path(equation, path)
            got = evaluated(chain, {chr(65 + i): array for i, array in enumerate(arrays)})
            np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)

    def test_a_chain_has_bounds(self):
        chain = tcsim.chain_from_path("ap,bq,pq->ab", [(0, 2), (0, 1)])
        self.assertEqual(chain, "T1[a,q] += A[a,p] * C[p,q]; R[a,b] += B[b,q] * T1[a,q]")
        bounds = tcsim.bounds(chain, "4KiB", sizes="a=40,b=40,p=30,q=30")
        self.assertGreaterEqual(bounds.upper_elements, bounds.lower_elements)

    def test_what_is_no_path_is_refused(self):
        for equation, path in [("ap,pb->ab", [(0, 2)]), ("ap,pb->ab", []), ("ap,pb->ab", 7), ("ap,pb->ab", [(0, 1, 1)]),
                               ("ap", [(0, 1)]), ("a p?,pb->ab", [(0, 1)]), (7, []), ("ap,pb->ab", [(0, "x")])]:
            with self.assertRaises(tcsim.Error):
                tcsim.chain_from_path(equation, path)


if __name__ == "__main__":
    unittest.main()
