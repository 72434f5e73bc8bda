"""Writes docs/python-reference.md from the package's docstrings and stubs.

Usage: PYTHONPATH=build/release/python python3 python/docs/reference.py > docs/python-reference.md
"""

import ast
import inspect
import os

import tcsim
from tcsim import plot

MAKERS = ["workload", "workloads", "machine", "schedule", "suites", "chains", "machines", "from_onnx", "chain_from_path", "chains_from_tce", "tce_sizes"]
QUESTIONS = ["optimize", "predict", "simulate", "run", "whatif", "bounds", "fuse", "report", "sweep"]
ARRAYS = ["einsum", "contract", "empty"]
VALUES = ["Workload", "Machine", "Schedule", "Network", "Layer", "NetworkTime"]
RESULTS = ["Record", "WorkloadRecord", "Optimized", "Prediction", "Report", "Simulation", "Run", "WhatIf", "Bounds", "Fused", "Sweep",
           "Fields"]
ERRORS = ["Error", "UsageError", "ArgumentTypeError", "InputError", "UnsupportedError", "MachineWarning"]


def stubs() -> dict:
    with open(os.path.join(os.path.dirname(tcsim.__file__), "__init__.pyi"), encoding="utf-8") as file:
        return {n.name: n for n in ast.parse(file.read()).body if hasattr(n, "name")}


def signature(node, name: str) -> str:
    arguments = ast.unparse(node.args)
    if arguments.startswith("self"):
        arguments = arguments[4:].lstrip(", ")
    text = f"{name}({arguments}) -> {ast.unparse(node.returns)}"
    return text.replace("_Path", "str | PathLike")


def quoted(thing) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def section(title: str, names, all_stubs) -> list:
    lines = [f"## {title}", ""]
    for name in names:
        thing, stub = getattr(tcsim, name), all_stubs[name]
        lines += [f"### {name}", ""]
        if isinstance(stub, ast.FunctionDef):
            lines += ["```python", signature(stub, name), "```", ""]
        lines += ["```text", quoted(thing), "```", ""]
        for member in stub.body if isinstance(stub, ast.ClassDef) else []:
            if not isinstance(member, ast.FunctionDef) or member.name.startswith("__") or member.decorator_list:
                continue
            words = quoted(getattr(thing, member.name))
            lines += ["```python", signature(member, f"{name}.{member.name}"), "```", ""]
            if words:
                lines += ["```text", words, "```", ""]
    return lines


def page() -> str:
    all_stubs = stubs()
    lines = ["# Python reference", "", "Made by `python/docs/reference.py` from the docstrings; [python.md](python.md) is the way in.", ""]
    lines += section("Workloads, machines, schedules", MAKERS, all_stubs)
    lines += section("Questions", QUESTIONS, all_stubs)
    lines += section("Arrays", ARRAYS, all_stubs)
    lines += section("Values", VALUES, all_stubs)
    lines += section("Results", RESULTS, all_stubs)
    lines += ["## Pictures: tcsim.plot", "", quoted(plot), ""]
    for name in ("roofline", "curve", "map", "traffic", "pareto", "link_colours"):
        function = getattr(plot, name)
        lines += [f"### plot.{name}", "", "```python", f"{name}{inspect.signature(function)}", "```", "", "```text",
                  quoted(function), "```", ""]
    lines += section("Errors", ERRORS, all_stubs)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(page(), end="")
