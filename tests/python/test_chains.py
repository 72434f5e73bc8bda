"""Paths of other libraries become chains that compute the same."""

import random
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
        draw = np.random.default_rng(5)
        for equation in ["ap,bq,cr,pqrs->abcs", "ap,bq,pq->ab", "ij,jk,kl,lm->im", "ab,ab,ab->", "ab,bc->ca"]:
            size = {i: 2 + n for n, i in enumerate(sorted(set(equation) & set("abcijklmpqrs")))}
            terms = equation.split("->")[0].split(",")
            arrays = [draw.uniform(-1, 1, [size[i] for i in term]) for term in terms]
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


# Of singles and doubles; the last intermediate alone is made within its chain.
TERMS = """
C     i0 ( p2 h1 )_f + = 1 * f ( p2 h1 )_f
C     i0 ( p2 h1 )_tf + = 1 * Sum ( h7 ) * t ( p2 h7 )_t * i1 ( h7 h1 )_f            a remark
C         i1 ( h7 h1 )_f + = 1 * f ( h7 h1 )_f
C         i1 ( h7 h1 )_ft + = 1 * Sum ( p3 ) * t ( p3 h1 )_t * i2 ( h7 p3 )_f
C             i2 ( h7 p3 )_vt + = 1 * Sum ( h6 p5 ) * t ( p5 h6 )_t * v ( h6 h7 p3 p5 )_v
C         i1 ( h7 h1 )_vt + = 1/1 * Sum ( h5 p3 p4 ) * t ( p3 p4 h1 h5 )_t * v ( h5 h7 p3 p4 )_v
C     i0 ( p2 h1 )_vt + = 1 * P( 1 ) * Sum ( h4 h5 p3 ) * t ( p2 p3 h4 h5 )_t * i1 ( h4 h5 h1 p3 )_v
C         i1 ( h4 h5 h1 p3 )_vt + = 1 * Sum ( p6 ) * t ( p6 h1 )_t * v ( h4 h5 p3 p6 )_v
      IMPLICIT NONE
"""


class Terms(unittest.TestCase):
    def test_chains_have_every_contraction_once_and_the_same_sums(self):
        draw = np.random.default_rng()
        h, p = 3, 4
        long = {"h": h, "p": p}
        tensors = {
            name: draw.uniform(-1, 1, [long[space] for space in name.split("_")[1]])
            for name in ["t_ph", "t_pphh", "f_ph", "f_hh", "v_hhpp"]
        }
        t1, t2, v = tensors["t_ph"], tensors["t_pphh"], tensors["v_hhpp"]
        i2 = np.einsum("bj,jiab->ia", t1, v)
        i1 = tensors["f_hh"] + np.einsum("aj,ia->ij", t1, i2) + np.einsum("abjk,kiab->ij", t2, v)
        want = tensors["f_ph"] + np.einsum("aj,ji->ai", t1, i1)
        want += np.einsum("caij,bk,ijab->ck", t2, t1, v)
        # What terms copy is there before.
        tensors["i1_hh"], tensors["i0_ph"] = tensors["f_hh"].copy(), tensors["f_ph"].copy()
        chains = tcsim.chains_from_tce(TERMS)
        statements = [s for chain in chains for s in chain.split("; ")]
        self.assertEqual(len(statements), 6)
        for statement in statements:
            (out, kept), (a, ia), (b, ib) = [(n, i.replace(",", "")) for n, i in re.findall(r"(\w+)\[([^\]]*)\]", statement)]
            more = np.einsum(f"{ia},{ib}->{kept}", tensors[a], tensors[b])
            tensors[out] = tensors[out] + more if out in tensors else more
        np.testing.assert_allclose(tensors["i0_ph"], want, rtol=1e-12, atol=1e-12)

    def test_chains_have_sizes_and_bounds(self):
        chains = tcsim.chains_from_tce(TERMS)
        self.assertEqual(chains[-1], "T9_hhhp[i,j,k,a] += t_ph[b,k] * v_hhpp[i,j,a,b]; i0_ph[c,k] += t_pphh[c,a,i,j] * T9_hhhp[i,j,k,a]")
        sizes = tcsim.tce_sizes(chains[-1], occupied=4, virtual=6)
        self.assertEqual(sizes, {"i": 4, "j": 4, "k": 4, "a": 6, "b": 6, "c": 6})
        for chain in chains:
            bounds = tcsim.bounds(chain, "4KiB", sizes=tcsim.tce_sizes(chain, 4, 6))
            self.assertGreater(bounds.lower_elements, 0)

    def test_damaged_terms_are_read_or_refused(self):
        seed = random.randrange(2**32)
        draw = random.Random(seed)
        for _ in range(500):
            text = list(TERMS)
            for _ in range(draw.randrange(1, 8)):
                at = draw.randrange(len(text))
                text[at : at + draw.randrange(3)] = draw.choice(["", " ", "\n", "(", ")", "*", "h", "9", "_", "\0", "é", "    "])
            with self.subTest(seed=seed, text="".join(text)):
                try:
                    tcsim.chains_from_tce("".join(text))
                except tcsim.UsageError:
                    pass

    def test_what_is_no_term_is_refused_with_its_line(self):
        good = "i0 ( p2 h1 )_t + = 1 * Sum ( h7 ) * t ( p2 h7 )_t * f ( h7 h1 )_f"
        for wrong, word in [
            ("i0 ( p2 h1 )_t + = 1 * t ( p2 h7 )_t * f ( h7 h1 )_f", "leaves out"),
            (good.replace("Sum ( h7 )", "Sum ( h7 p2 )"), "leaves out"),
            (good.replace("h7", "x7"), "holes or particles"),
            (good.replace("p2", "h7"), "twice"),
            (good.replace("+ = 1", "+ = one"), "line 1 is no term"),
            (good + " * f ( h1 h7 )_f", "3 factors"),
            (good + "\n  i1 ( h7 h1 )_f + = 1 * Sum ( p3 ) * t ( p3 h1 )_t * f ( h7 p3 )_f", "line 2: i1 ( h7 h1 ) is no factor"),
            ("i0 ( p2 h1 )_f + = 1 * f ( p2 h1 )_f", "no contraction"),
            ("", "terms"),
            ("\n".join(" " * n + "f ( p2 h1 )_f + = 1 * f ( p2 h1 )_f" for n in range(2000)), "100 terms deep"),
        ]:
            with self.assertRaises(tcsim.UsageError, msg=wrong) as raised:
                tcsim.chains_from_tce(wrong)
            self.assertIn(word, str(raised.exception))
        for chain, sizes in [("T[p,q] += A[p] * B[q]", (3, 4)), (tcsim.chains_from_tce(good)[0], (0, 4)), (7, (3, 4))]:
            with self.assertRaises(tcsim.Error):
                tcsim.tce_sizes(chain, *sizes)


if __name__ == "__main__":
    unittest.main()
