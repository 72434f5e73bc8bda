"""Workloads and schedules."""

import os

from . import _arguments as check
from ._errors import ArgumentTypeError, UsageError
from ._tcsim import Schedule, Workload, find_workloads, parse_program


def _find(name, sizes, layout, type, image_layout, more) -> list:
    name = check.text("workload", name, "'tccg:8' or 'abcd-aebf-dfce'")
    if more:
        sizes = {**({} if sizes is None else _as_dict(sizes)), **more}
    if "\n" in name and name.lstrip().startswith("program"):
        if sizes is not None or layout is not None or type is not None:
            raise UsageError("workload", "a program says sizes, layout and type itself", "leave them out")
        return [parse_program(name)]
    if layout is not None:
        layout = check.word("layout", layout, "row-major", "column-major")
    if type is not None:
        type = check.word("type", type, "f64", "f32")
    image = check.text_or_none("image_layout", image_layout, "'nhwc'") or ""
    return find_workloads(name, check.sizes(sizes), layout, type, image)


def _as_dict(sizes) -> dict:
    if isinstance(sizes, str):
        return dict(part.partition("=")[::2] for part in sizes.split(","))
    return dict(sizes)


def workload(name, sizes=None, *, layout=None, type=None, image_layout=None, **more) -> Workload:
    """One workload.

    Args:
        name: "tccg:8" (suite and number), a label "abcd-aebf-dfce" (output first), einsum
            "aebf,dfce->abcd", "conv2d", a statement "O[y,x] += I[y+r,x+s] * W[r,s]", the path of a
            .program file, or a program's text.
        sizes: extent of each index, {"a": 72, ...} or "a=72,..."; of conv2d its own words
            (k, c, y, x, r, s, stride, pad, ...).
        layout: "row-major" or "column-major", of a label.
        type: "f64" or "f32".
        image_layout: of a suite's convolutions: "nchw", "nhwc", "nchw16c", ...
        **more: sizes as keywords: workload("ij-ik-kj", i=960, j=960, k=960).

    Raises:
        UsageError, InputError: with what is missing or wrong, and what would be right.
    """
    if isinstance(name, Workload):
        return name
    found = _find(name, sizes, layout, type, image_layout, more)
    if len(found) == 1:
        return found[0]
    raise UsageError(
        name, f"these are {len(found)} workloads", f"say which, such as {name}:1, or use workloads()"
    )


def workloads(name, sizes=None, *, layout=None, type=None, image_layout=None, **more) -> list:
    """All that a name stands for: workloads("tccg") is the whole suite."""
    return _find(name, sizes, layout, type, image_layout, more)


_workload = workload


def schedule(workload, text) -> Schedule:
    """A schedule from its text, or from the path of its file.

    Raises:
        InputError: where it is no schedule of the workload, with line and column.
    """
    if not isinstance(workload, Workload):
        workload = _workload(workload)
    text = check.text("schedule", text, "'groups m=a n=b k=c ...'")
    if not any(c in text for c in " \n{") and os.path.exists(text):
        with open(text, encoding="utf-8") as file:
            text = file.read()
    return Schedule(workload, text)


def workload_argument(value, sizes=None, layout=None, type=None) -> Workload:
    if isinstance(value, Workload):
        if sizes is not None or layout is not None or type is not None:
            raise UsageError("workload", "a Workload says sizes, layout and type itself", "leave them out")
        return value
    if isinstance(value, (str, os.PathLike)):
        return workload(value, sizes, layout=layout, type=type)
    raise ArgumentTypeError(
        "workload", f"{check._shown(value)} is no workload", "give tcsim.workload('tccg:8') or its name"
    )


def schedule_argument(value):
    """The text of a schedule that is given as text, as the path of its file, or as an object."""
    if value is None:
        return None
    if isinstance(value, Schedule):
        return value.text
    return check.text("schedule", value, "'groups m=a n=b k=c ...', a file's path, or a Schedule")


Workload.__doc__ = """A contraction of two tensors, or a convolution. Immutable.

Attributes:
    name, label: as it was named; the output first, "abcd-aebf-dfce".
    sizes: {index: extent}.
    type, layout: "f64" or "f32"; "row-major", "column-major" or "mixed".
    flops: two for each multiply-add.
    classes: indices by what they belong to: {"m": of A and C, "n": of B and C, "k": of A and B, "batch": of all}.
    shapes: {"A": (...), "B": (...), "C": (...)}, axes in written order.
"""
Workload.__str__ = lambda self: repr(self)[16:-1]
Schedule.__doc__ = """A schedule of a workload: in what order its iterations run, and what is packed where. Immutable.

Attributes:
    text, line: what schedule() reads back exactly, on several lines and on one.
    workload: what it is for.
    groups: {"m": "ab", ...}: indices that are fused into one, the fastest first.
    tree: nested dicts: kind "loop" (group, tile, body), "pack" (tensor, level, body), "seq" (group,
        parts), "kernel" (mr, nr, along_k).
"""
