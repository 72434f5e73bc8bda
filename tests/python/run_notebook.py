"""Runs the code cells of a notebook, in order and in one namespace, in a folder of its own.

Usage: run_notebook.py NOTEBOOK. It fails where a cell does, and where the last cell draws nothing.
"""

import json
import os
import sys
import tempfile

notebook = os.path.abspath(sys.argv[1])
with open(notebook, encoding="utf-8") as file:
    cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
assert all(not cell["outputs"] for cell in cells), "notebooks are kept without their outputs"
space = {"__name__": "__main__"}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for number, cell in enumerate(cells, 1):
        exec(compile("".join(cell["source"]), f"{notebook} cell {number}", "exec"), space)
    pictures = [name for name in os.listdir(folder) if name.endswith(".pdf") and os.path.getsize(name) > 5000]
    os.chdir("/")
print(f"{len(cells)} cells, {', '.join(pictures)}")
sys.exit(0 if pictures else "it ends in no picture")
