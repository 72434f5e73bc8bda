"""tcsim: how much data a tensor contraction moves at each level of a memory hierarchy, how long that
takes, and what would change if the hardware changed.

    import tcsim
    w = tcsim.workload("abcd-aebf-dfce", a=72, b=72, c=72, d=72, e=72, f=72)
    print(tcsim.optimize(w, "e5-2680v4"))

The numbers are those of the command line, to the last digit: the same libraries are called.
"""

import os as _os

from . import _tcsim

try:
    from ._places import DATA as _data
except ImportError:
    _data = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "share")
_tcsim.look_for_data_in(_data)

from ._answers import bounds, fuse, optimize, predict, report, run, simulate, sweep, whatif
from ._chains import chain_from_path, chains_from_tce, tce_sizes
from ._contract import contract, einsum, empty
from ._errors import ArgumentTypeError, Error, InputError, UnsupportedError, UsageError
from ._machines import MachineWarning, machine
from ._network import Layer, Network, NetworkTime, from_onnx
from ._records import (
    Bounds,
    Fields,
    Fused,
    Optimized,
    Prediction,
    Record,
    Report,
    Run,
    Simulation,
    Sweep,
    WhatIf,
    WorkloadRecord,
)
from ._tcsim import Machine, Schedule, Workload
from ._workloads import schedule, workload, workloads

__version__ = _tcsim.version


def __getattr__(name):
    # matplotlib is asked for where somebody draws.
    if name == "plot":
        import importlib

        return importlib.import_module(".plot", __name__)
    raise AttributeError(f"module 'tcsim' has no attribute '{name}'")


def machines() -> list:
    """The names of the machines that ship with tcsim."""
    return _tcsim.shipped_machines()


def suites() -> list:
    """The names of the suites of workloads that ship with tcsim."""
    return _tcsim.shipped_suites()


def chains() -> list:
    """The names of the suites of chains that ship with tcsim; bounds() takes "fourindex:1"."""
    return _tcsim.shipped_chains()


__all__ = [
    "ArgumentTypeError", "Bounds", "Error", "Fields", "Fused", "InputError", "Layer", "Machine", "MachineWarning", "Network",
    "NetworkTime", "Optimized", "Prediction", "Record", "Report", "Run", "Schedule", "Simulation", "Sweep", "UnsupportedError", "UsageError",
    "WhatIf", "Workload", "WorkloadRecord", "bounds", "chain_from_path", "chains", "chains_from_tce", "contract", "einsum", "empty",
    "from_onnx", "fuse", "machine", "machines", "optimize", "predict", "report", "run", "schedule", "simulate", "suites", "sweep",
    "tce_sizes", "whatif", "workload", "workloads",
]
