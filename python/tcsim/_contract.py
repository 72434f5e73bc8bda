"""Contractions of NumPy arrays by the executor, where they lie."""

import threading
from collections import OrderedDict

from . import _arguments as check
from ._errors import ArgumentTypeError, UsageError
from ._machines import machine_argument
from ._tcsim import PreparedContraction, Workload, output_shape
from ._workloads import schedule_argument

# Choosing a schedule takes milliseconds to a second, so what was prepared is kept.
_kept = OrderedDict()
_lock = threading.Lock()
_most_kept = 64


def _array(name: str, value):
    import numpy

    if isinstance(value, numpy.ndarray):
        return value
    raise ArgumentTypeError(
        name, f"{type(value).__name__} is no NumPy array", "give a numpy.ndarray of float64 or float32"
    )


def _overlap(numpy, a, b) -> bool:
    if not numpy.may_share_memory(a, b):
        return False
    try:
        return numpy.shares_memory(a, b, max_work=100_000)
    except Exception:  # numpy's TooHardError has moved between versions
        return True


_LINE = 64  # bytes of a cache line, and of the widest vectors


def empty(shape, dtype="float64"):
    """An array like numpy.empty()'s, in C order, that begins with a line of the cache.

    An operand that is read where it lies takes longer where its rows begin within lines, as those of
    NumPy's arrays do (they begin 16 bytes behind one). einsum() and contract() make their results so.

    Args:
        shape: a whole number, or a tuple of them.
        dtype: "float64", "float32" or another of NumPy's.
    """
    import numpy

    try:
        kind = numpy.dtype(dtype)
        extents = (shape,) if isinstance(shape, int) else tuple(shape)
    except TypeError:
        raise ArgumentTypeError("shape", f"{check._shown(shape)} of {check._shown(dtype)} is no array", "give (72, 72), 'float64'") from None
    if kind.hasobject:
        raise UsageError("dtype", f"{kind} has no numbers", "give float64 or float32")
    count = 1
    for extent in extents:
        count *= check.whole("shape", extent, 0, 2**62)
    if count * kind.itemsize >= 2**62:
        raise UsageError("shape", f"{check._shown(shape)} is too large", "use smaller sizes")
    size = count * kind.itemsize
    memory = numpy.empty(size + _LINE, dtype=numpy.uint8)
    begin = -memory.ctypes.data % _LINE
    return memory[begin : begin + size].view(kind).reshape(extents)


def _lies(array) -> tuple:
    # Base addresses only matter for alignment, which is looked at each time.
    return array.dtype.str, array.shape, array.strides


def _contract(label, a, b, out, alpha, beta, threads, machine, schedule, progress):
    import numpy

    a, b = _array("A", a), _array("B", b)
    alpha, beta = check.number("alpha", alpha), check.number("beta", beta)
    threads = check.whole("threads", threads, 1, 4096)
    text = schedule_argument(schedule)
    on = None if machine is None else machine_argument(machine)
    if out is None:
        if beta != 0:
            raise UsageError("beta", "there is no C for it to scale", "give it as out, or leave beta out")
        out = empty(output_shape(label, a, b), a.dtype)
    else:
        out = _array("out", out)
        for name, other in (("A", a), ("B", b)):
            if _overlap(numpy, out, other):
                raise UsageError("out", f"it overlaps {name}", "give an array of its own")
    key = (label, _lies(a), _lies(b), _lies(out), threads, on, text)
    with _lock:
        prepared = _kept.get(key)
        if prepared is not None:
            _kept.move_to_end(key)
    with check.Progress(progress, "contraction") as show:
        if prepared is None:
            prepared = PreparedContraction(label, a, b, out, threads, on, text, show)
            with _lock:
                _kept[key] = prepared
                while len(_kept) > _most_kept:
                    _kept.popitem(last=False)
        prepared.run(a, b, out, alpha, beta, show)
    return out


def einsum(label, A, B, *, out=None, alpha=1.0, beta=0.0, threads=1, machine=None, schedule=None, progress=False):
    """C = alpha A B + beta C of two NumPy arrays, at the speed of `tcsim run`.

    Args:
        label: "aebf,dfce->abcd", or the output first, "abcd-aebf-dfce".
        A, B: float64 or float32 arrays, used where they lie: transposed views and slices are fine as
            long as each axis steps over whole rows of the one inside it.
        out: C, which overlaps neither A nor B; a new row-major array otherwise.
        alpha, beta: as in BLAS; C is not read where beta is 0.
        threads: at most so many.
        machine: for which tiles are chosen; otherwise caches as the system describes this one's.
        schedule: instead of the optimizer's choice.

    Returns:
        C, an array of the indices on the right of "->".

    Choosing tiles takes microseconds to a second the first time; what was chosen is kept for
    arrays of the same shapes and strides. Indices that only one array has are refused, as are
    strides that the executor cannot take, with a sentence that says why.
    """
    label = check.text("label", label, "'aebf,dfce->abcd'")
    return _contract(label, A, B, out, alpha, beta, threads, machine, schedule, progress)


def contract(workload, A, B, *, out=None, alpha=1.0, beta=0.0, threads=1, machine=None, schedule=None, progress=False):
    """As einsum(), of a Workload, so also of convolutions: arrays have the shapes of
    `workload.shapes`, and lie where they lie, whatever the workload's layout."""
    if not isinstance(workload, Workload):
        raise ArgumentTypeError(
            "workload", f"{check._shown(workload)} is no Workload", "give tcsim.workload(...), or use einsum()"
        )
    return _contract(workload, A, B, out, alpha, beta, threads, machine, schedule, progress)
