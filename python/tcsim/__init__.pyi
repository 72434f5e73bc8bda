import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy
import numpy.typing
import pandas

from . import plot as plot

__version__: str
__all__: list[str]

_Path = str | os.PathLike[str]
_Sizes = str | Mapping[str, int | str]
_Changes = str | Mapping[str, str | float] | Iterable[str]
_Progress = bool | Callable[[float], object] | None
_Type = Literal["f64", "f32"]
_Layout = Literal["row-major", "column-major"]
_Accounting = Literal["honest", "paper"]
_Objective = Literal["time", "sum", "energy"]
_Model = Literal["window", "listing3"]
_Array = numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.float32]

class Error(Exception):
    place: str
    problem: str
    mend: str
    def __init__(self, place: str, problem: str, mend: str = "") -> None: ...

class UsageError(Error, ValueError): ...
class ArgumentTypeError(UsageError, TypeError): ...
class InputError(Error, ValueError): ...
class UnsupportedError(Error, RuntimeError): ...
class MachineWarning(UserWarning): ...

class Workload:
    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def sizes(self) -> dict[str, int]: ...
    @property
    def type(self) -> str: ...
    @property
    def layout(self) -> str: ...
    @property
    def flops(self) -> float: ...
    @property
    def classes(self) -> dict[str, str]: ...
    @property
    def shapes(self) -> dict[str, tuple[int, ...]]: ...
    def renamed(self, name: str) -> Workload: ...
    def program(self) -> str: ...

class Schedule:
    def __init__(self, workload: Workload, text: str) -> None: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def text(self) -> str: ...
    @property
    def line(self) -> str: ...
    @property
    def groups(self) -> dict[str, str]: ...
    @property
    def tree(self) -> dict[str, Any]: ...
    def check(self, levels: Iterable[str]) -> None: ...

class Machine:
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def accounting(self) -> str: ...
    @property
    def warning(self) -> str: ...
    @property
    def levels(self) -> tuple[Fields, ...]: ...
    def __getitem__(self, name: str) -> float: ...
    def set(self, changes: _Changes | None = None, **knobs: str | float) -> Machine: ...
    def derive(
        self, name: str | None = None, changes: _Changes | None = None, *, description: str | None = None,
        **knobs: str | float,
    ) -> Machine: ...
    def knob(self, name: str) -> tuple[float, str]: ...
    def knobs(self) -> dict[str, tuple[float, str]]: ...
    def peak(self, type: _Type = "f64") -> float: ...
    def toml(self) -> str: ...
    def save(self, path: _Path) -> None: ...
    def frame(self) -> pandas.DataFrame: ...

class Fields(Mapping[str, Any]):
    def __init__(self, fields: dict[str, Any]) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_dict(self) -> dict[str, Any]: ...

class Record(Fields):
    schema: int
    command: str
    tcsim_version: str
    def json(self) -> str: ...
    def frame(self) -> pandas.DataFrame: ...

class WorkloadRecord(Record):
    workload: Fields
    machine: Fields
    accounting: Fields
    levels: tuple[Fields, ...]
    predicted_seconds: float
    predicted_gflops: float
    compute_seconds: float
    peak_gflops: float
    bottleneck: str
    @property
    def schedule(self) -> Schedule: ...
    def by_tensor(self) -> pandas.DataFrame: ...

class Optimized(WorkloadRecord):
    certificate: Fields

class Prediction(WorkloadRecord): ...

class Report(WorkloadRecord):
    what_would_help: Fields

class Simulation(WorkloadRecord):
    line_touches: int
    simulated_seconds: float
    simulated_gflops: float
    simulated_bottleneck: str

class Run(WorkloadRecord):
    measured_seconds: float
    measured_gflops: float
    repetitions_seconds: tuple[float, ...]
    check_error_over_bound: float
    kernel: str

class WhatIf(Record):
    workload: Fields
    machine: Fields
    predicted_seconds: float
    bottleneck: str
    vary: tuple[Fields, ...]
    points: tuple[Fields, ...]
    crossovers: tuple[Fields, ...]
    elasticities: tuple[Fields, ...]
    larger_caches: tuple[Fields, ...]
    text: str

class Bounds(Record):
    workload: Fields
    cache_elements: int
    operations: float
    lower_elements: int
    upper_elements: float | None
    lower_symbolic: str
    upper_symbolic: str | None
    bounds: tuple[Fields, ...]

class Fused(Record):
    workload: Fields
    machine: Fields
    fuse: bool
    fused: Fields
    unfused: Fields

class Sweep(Record):
    study: str
    folder: str
    designs: int
    points: int
    text: str
    def designs_frame(self) -> pandas.DataFrame: ...

class Layer(Fields):
    workload: Workload
    count: int
    nodes: tuple[str, ...]
    operator: str

class NetworkTime:
    network: Network
    machine: Machine
    layers: tuple[Optimized, ...]
    seconds: float
    by_bottleneck: dict[str, float]
    text: str
    def frame(self) -> pandas.DataFrame: ...

class Network:
    @property
    def name(self) -> str: ...
    @property
    def layers(self) -> tuple[Layer, ...]: ...
    @property
    def left_out(self) -> dict[str, int]: ...
    @property
    def flops(self) -> float: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Layer]: ...
    def optimize(self, machine: Machine | _Path = "host", **how: Any) -> NetworkTime: ...
    def whatif(self, machine: Machine | _Path, vary: str, **how: Any) -> Fields: ...
    def toml(self) -> str: ...
    def frame(self) -> pandas.DataFrame: ...

def chain_from_path(equation: str, path: Iterable[Iterable[int]]) -> str: ...
def chains_from_tce(terms: str) -> list[str]: ...
def tce_sizes(chain: str, occupied: int, virtual: int) -> dict[str, int]: ...
def from_onnx(model: Any, *, dims: Mapping[str, int] | None = None, name: str | None = None) -> Network: ...
def machines() -> list[str]: ...
def suites() -> list[str]: ...
def chains() -> list[str]: ...
def machine(
    name: Machine | _Path = "host", set: _Changes | None = None, *, accounting: _Accounting | None = None,
    progress: _Progress = None,
) -> Machine: ...
def workload(
    name: Workload | _Path, sizes: _Sizes | None = None, *, layout: _Layout | None = None, type: _Type | None = None,
    image_layout: str | None = None, **more: int | str,
) -> Workload: ...
def workloads(
    name: _Path, sizes: _Sizes | None = None, *, layout: _Layout | None = None, type: _Type | None = None,
    image_layout: str | None = None, **more: int | str,
) -> list[Workload]: ...
def schedule(workload: Workload | _Path, text: _Path) -> Schedule: ...
def optimize(
    workload: Workload | _Path, machine: Machine | _Path = "host", *, sizes: _Sizes | None = None,
    layout: _Layout | None = None, type: _Type | None = None, accounting: _Accounting | None = None,
    objective: _Objective = "time", divide: bool = False, model: _Model = "window", progress: _Progress = None,
) -> Optimized: ...
def predict(
    workload: Workload | _Path, machine: Machine | _Path = "host", schedule: Schedule | _Path | None = None, *,
    scheme: str | None = None, sizes: _Sizes | None = None, layout: _Layout | None = None, type: _Type | None = None,
    accounting: _Accounting | None = None, objective: _Objective = "time", divide: bool = False,
    model: _Model = "window", progress: _Progress = None,
) -> Prediction: ...
def report(
    workload: Workload | _Path, machine: Machine | _Path = "host", schedule: Schedule | _Path | None = None, *,
    scheme: str | None = None, sizes: _Sizes | None = None, layout: _Layout | None = None, type: _Type | None = None,
    accounting: _Accounting | None = None, objective: _Objective = "time", divide: bool = False,
    progress: _Progress = None,
) -> Report: ...
def simulate(
    workload: Workload | _Path, machine: Machine | _Path = "host", schedule: Schedule | _Path | None = None, *,
    scheme: str | None = None, sizes: _Sizes | None = None, layout: _Layout | None = None, type: _Type | None = None,
    accounting: _Accounting | None = None, objective: _Objective = "time", divide: bool = False,
    model: _Model = "window", attribution: bool = False, tlb: bool = False, sets: str | None = None,
    timeline: int | None = None, timeline_part: tuple[int, int] | None = None, sample: int | None = None, rules: str | Iterable[str] = (), drain: bool = True, seed: int = 1, threads: int = 1,
    progress: _Progress = None,
) -> Simulation: ...
def run(
    workload: Workload | _Path, machine: Machine | _Path = "host", schedule: Schedule | _Path | None = None, *,
    scheme: str | None = None, sizes: _Sizes | None = None, layout: _Layout | None = None, type: _Type | None = None,
    accounting: _Accounting | None = None, objective: _Objective = "time", divide: bool = False,
    model: _Model = "window", repetitions: int | None = None, seed: int = 1, threads: int = 1,
    progress: _Progress = None,
) -> Run: ...
def whatif(
    workload: Workload | _Path, machine: Machine | _Path = "host", vary: str | Iterable[str] = (), *,
    schedule: Schedule | _Path | None = None, scheme: str | None = None, fixed_schedule: bool = False,
    sizes: _Sizes | None = None, layout: _Layout | None = None, type: _Type | None = None,
    accounting: _Accounting | None = None, progress: _Progress = None,
) -> WhatIf: ...
def bounds(
    workload: Workload | _Path, cache: str | int | Iterable[str | int] = (), *, sizes: _Sizes | None = None,
    layout: _Layout | None = None, type: _Type | None = None, accounting: _Accounting = "honest",
    notation: Literal["text", "latex", "python"] = "text", progress: _Progress = None,
) -> Bounds | list[Bounds]: ...
def fuse(
    chain: _Path, machine: Machine | _Path = "host", schedule: _Path | None = None, *, sizes: _Sizes | None = None,
    type: _Type | None = None, order: str | None = None, accounting: _Accounting | None = None,
    simulate: bool = False, progress: _Progress = None,
) -> Fused | list[Fused]: ...
def sweep(
    study: _Path, folder: _Path | None = None, *, resume: bool = False, threads: int = 1,
    host: Machine | _Path | None = None, progress: _Progress = None,
) -> Sweep: ...
def empty(shape: int | Iterable[int], dtype: Any = "float64") -> _Array: ...
def einsum(
    label: str, A: _Array, B: _Array, *, out: _Array | None = None, alpha: float = 1.0, beta: float = 0.0,
    threads: int = 1, machine: Machine | _Path | None = None, schedule: Schedule | _Path | None = None,
    progress: _Progress = False,
) -> _Array: ...
def contract(
    workload: Workload, A: _Array, B: _Array, *, out: _Array | None = None, alpha: float = 1.0, beta: float = 0.0,
    threads: int = 1, machine: Machine | _Path | None = None, schedule: Schedule | _Path | None = None,
    progress: _Progress = False,
) -> _Array: ...
