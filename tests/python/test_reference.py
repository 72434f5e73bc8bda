"""The reference page is that of the docstrings, and has every public name."""

import os
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.append(os.path.join(ROOT, "python", "docs"))
import reference

import tcsim


class Reference(unittest.TestCase):
    def test_the_page_is_made_of_the_docstrings(self):
        with open(os.path.join(ROOT, "docs", "python-reference.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), reference.page(), "run python/docs/reference.py > docs/python-reference.md")

    def test_every_public_name_is_there(self):
        there = {*reference.MAKERS, *reference.QUESTIONS, *reference.ARRAYS, *reference.VALUES, *reference.RESULTS,
                 *reference.ERRORS}
        self.assertEqual(there, set(tcsim.__all__))


if __name__ == "__main__":
    unittest.main()
