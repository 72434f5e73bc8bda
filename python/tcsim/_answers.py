"""What the commands answer."""

import os
import tempfile

from . import _arguments as check
from . import _tcsim
from ._machines import machine_argument
from ._records import Bounds, Fused, Optimized, Prediction, Report, Run, Simulation, Sweep, WhatIf
from ._tcsim import Workload
from ._workloads import schedule_argument, workload_argument


class _Asked:
    """A workload on a machine, and how a schedule comes about."""

    def __init__(self, workload, machine, sizes, layout, type, accounting, schedule, scheme, objective, divide, model):
        self.workload = workload_argument(workload, sizes, layout, type)
        self.machine = machine_argument(machine, accounting)
        self.how = dict(
            schedule=schedule_argument(schedule),
            scheme=check.text_or_none("scheme", scheme, "'[T2,k,T34,y,...]'"),
            objective=check.word("objective", objective, "time", "sum", "energy"),
            divide=check.flag("divide", divide),
            model=check.word("model", model, "window", "listing3"),
        )


def optimize(
    workload, machine="host", *, sizes=None, layout=None, type=None, accounting=None, objective="time",
    divide=False, model="window", progress=None,
) -> Optimized:
    """Chooses loop order and tile sizes.

    Args:
        workload: a Workload, or what workload() takes, with `sizes`, `layout` and `type`.
        machine: a Machine, or what machine() takes.
        objective: what is least: "time" (the slowest link's), "sum" (over links) or "energy".
        divide: only tiles that divide the one outside them.
        model: "window" or "listing3", by which the choice is predicted.
        accounting: "honest" or "paper"; what the machine says otherwise.

    Returns:
        Optimized: `schedule`, `predicted_seconds`, `bottleneck`, `levels`, `certificate`.

    Raises:
        UsageError, InputError: for what cannot be meant.
        UnsupportedError: for a machine that the model does not know, or sizes that are too large.
        KeyboardInterrupt: soon after Ctrl-C.
    """
    a = _Asked(workload, machine, sizes, layout, type, accounting, None, None, objective, divide, model)
    with check.Progress(progress, "choosing a schedule") as show:
        return Optimized(_tcsim.predicted("optimize", a.workload, a.machine, advise=False, progress=show, **a.how))


def predict(
    workload, machine="host", schedule=None, *, scheme=None, sizes=None, layout=None, type=None, accounting=None,
    objective="time", divide=False, model="window", progress=None,
) -> Prediction:
    """Traffic per level and tensor, time and bottleneck of a schedule.

    Args:
        schedule: a Schedule, its text, or the path of its file; otherwise the best one is chosen.
        scheme: in ttile's notation, instead.
        Others as optimize().

    Returns:
        Prediction: `levels`, `predicted_seconds`, `predicted_gflops`, `bottleneck`.
    """
    a = _Asked(workload, machine, sizes, layout, type, accounting, schedule, scheme, objective, divide, model)
    with check.Progress(progress, "predicting") as show:
        return Prediction(_tcsim.predicted("predict", a.workload, a.machine, advise=False, progress=show, **a.how))


def report(
    workload, machine="host", schedule=None, *, scheme=None, sizes=None, layout=None, type=None, accounting=None,
    objective="time", divide=False, progress=None,
) -> Report:
    """Prediction and bounds of each link, and what would help: `what_would_help.text`. It neither
    simulates nor runs: simulate() and run() do."""
    a = _Asked(workload, machine, sizes, layout, type, accounting, schedule, scheme, objective, divide, "window")
    with check.Progress(progress, "what would help") as show:
        return Report(_tcsim.predicted("report", a.workload, a.machine, advise=True, progress=show, **a.how))


def simulate(
    workload, machine="host", schedule=None, *, scheme=None, sizes=None, layout=None, type=None, accounting=None,
    objective="time", divide=False, model="window", attribution=False, tlb=False, sets=None, timeline=None,
    timeline_part=None, sample=None, rules=(), drain=True, seed=1, threads=1, progress=None,
) -> Simulation:
    """Exact simulation of the caches while a schedule runs.

    Args:
        schedule: as predict().
        attribution: say why lines are missed, by tensor, phase and loop.
        tlb: also simulate the machine's TLBs.
        sets: the name of a cache ("L1"): say which tensors' lines fall into each of its sets, and what it misses.
        timeline: cut the run into at most so many frames, and say of each what every cache holds and misses.
        timeline_part: (first, behind the last) of the core's line touches that the timeline shows.
        sample: simulate so many classes of sets only, and estimate the rest.
        rules: "L2.write_back_miss=pass" and the like, one or several.
        drain: count the dirty lines that are left at the end.
        seed: of random replacement and of the sample.
        threads: at most so many; results do not depend on it.

    Returns:
        Simulation: `levels` with `simulated_bytes` and `cache`, `simulated_seconds`.
    """
    a = _Asked(workload, machine, sizes, layout, type, accounting, schedule, scheme, objective, divide, model)
    with check.Progress(progress, "simulating") as show:
        return Simulation(
            _tcsim.simulated(
                a.workload, a.machine, **a.how,
                attribution=check.flag("attribution", attribution),
                tlb=check.flag("tlb", tlb),
                sets=check.text_or_none("sets", sets, "'L1'"),
                timeline=None if timeline is None else check.whole("timeline", timeline, 1, 4096),
                timeline_part=check.whole_range("timeline_part", timeline_part),
                sample=None if sample is None else check.whole("sample", sample, 2),
                rules=check.texts("rules", rules, "'L2.write_back_miss=pass'"),
                drain=check.flag("drain", drain),
                seed=check.whole("seed", seed, 0, 2**64 - 1),
                threads=check.whole("threads", threads, 1, 4096),
                progress=show,
            )
        )


def run(
    workload, machine="host", schedule=None, *, scheme=None, sizes=None, layout=None, type=None, accounting=None,
    objective="time", divide=False, model="window", repetitions=None, seed=1, threads=1, progress=None,
) -> Run:
    """Executes the computation on this machine, on inputs of its own, and checks it.

    Args:
        machine: for which the schedule is chosen, and what is predicted.
        repetitions: how often; until the time is known otherwise.
        seed: of the inputs' values.
        threads: at most so many.

    Returns:
        Run: `measured_seconds` (median), `measured_gflops`, `check_error_over_bound`. Arrays of
        your own go through einsum() and contract().
    """
    a = _Asked(workload, machine, sizes, layout, type, accounting, schedule, scheme, objective, divide, model)
    with check.Progress(progress, "running") as show:
        return Run(
            _tcsim.run_here(
                a.workload, a.machine, **a.how,
                repetitions=None if repetitions is None else check.whole("repetitions", repetitions, 1, 10000),
                seed=check.whole("seed", seed, 0, 2**64 - 1),
                threads=check.whole("threads", threads, 1, 4096),
                progress=show,
            )
        )


def whatif(
    workload, machine="host", vary=(), *, schedule=None, scheme=None, fixed_schedule=False, sizes=None, layout=None,
    type=None, accounting=None, progress=None,
) -> WhatIf:
    """The predicted time along one or two knobs of the machine, where the bottleneck changes, and
    what each knob brings.

    Args:
        vary: "L3.capacity=8MiB..128MiB", "memory.bandwidth=1x..1.5x:11"; one, two, or none (then
            elasticities alone).
        fixed_schedule: keep the schedule of the machine as it is; so does `schedule`.

    Returns:
        WhatIf: `points`, `crossovers`, `elasticities`, `larger_caches`, `text`. frame() has a row
        for each point.
    """
    a = _Asked(workload, machine, sizes, layout, type, accounting, schedule, scheme, "time", False, "window")
    with check.Progress(progress, "what if") as show:
        return WhatIf(
            _tcsim.what_if(
                a.workload, a.machine,
                vary=check.texts("vary", vary, "'L3.capacity=8MiB..128MiB'"),
                fixed=check.flag("fixed_schedule", fixed_schedule),
                schedule=a.how["schedule"], scheme=a.how["scheme"], progress=show,
            )
        )


def bounds(
    workload, cache=(), *, sizes=None, layout=None, type=None, accounting="honest", notation="text", progress=None
) -> Bounds:
    """How little any order of the workload's multiply-adds can move, proven.

    Args:
        workload: a Workload or its name; here also a chain ("fourindex:1", "ap,pq,bq->ab" with
            sizes), a .program file, or an affine program.
        cache: capacity of the memory: "32KiB", or a whole number of elements; one or several.
        accounting: "honest" counts loads and stores, "paper" loads alone.
        notation: of expressions: "text", "latex" or "python".

    Returns:
        Bounds; of a name that stands for several workloads a list of them.
    """
    if isinstance(cache, (int, str)) and not isinstance(cache, bool):
        cache = [cache]
    try:
        capacities = [
            str(check.whole("cache", c, 1, 2**62)) if not isinstance(c, str) else check.text("cache", c, "'32KiB'")
            for c in cache
        ]
    except TypeError as e:
        if isinstance(e, check.ArgumentTypeError):
            raise
        raise check.ArgumentTypeError("cache", f"{check._shown(cache)} is no capacity", "give '32KiB'") from None
    how = dict(
        cache=capacities,
        accounting=check.word("accounting", accounting, "honest", "paper"),
        notation=check.word("notation", notation, "text", "latex", "python"),
    )
    with check.Progress(progress, "bounds") as show:
        if isinstance(workload, Workload):
            w = workload_argument(workload, sizes, layout, type)
            return Bounds(_tcsim.bounds_of_workload(w, progress=show, **how)[0])
        name = check.text("workload", workload, "'tccg:8'")
        if layout is not None:
            layout = check.word("layout", layout, "row-major", "column-major")
        if type is not None:
            type = check.word("type", type, "f64", "f32")
        found = _tcsim.bounds_of_text(name, check.sizes(sizes), layout, type, progress=show, **how)
    all_ = [Bounds(one) for one in found]
    return all_[0] if len(all_) == 1 else all_


def fuse(
    chain, machine="host", schedule=None, *, sizes=None, type=None, order=None, accounting=None, simulate=False,
    progress=None,
):
    """Whether to fuse the contractions of a chain whose tensors are all in memory, and how.

    Args:
        chain: statements with `sizes` ("T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]"), einsum of
            several tensors, a .program file, or a shipped chain ("fourindex:1").
        machine: with caches; `tcsim fuse` knows disks and explicit levels too.
        schedule: a fused schedule's text or the path of its file, judged beside the choice.
        order: of a product of many factors, "((A B) C)"; the least multiply-adds otherwise.
        simulate: also the exact traffic.

    Returns:
        Fused: `fuse` (whether it pays), `fused` and `unfused` with `schedule`, `leaves`, `levels`,
        `predicted_seconds`; of a suite's name a list of them.

    Raises:
        UsageError, InputError: for what cannot be meant.
        UnsupportedError: for a machine with explicit levels, or an accounting without packing.
    """
    how = dict(
        type=None if type is None else check.word("type", type, "f64", "f32"),
        order=check.text_or_none("order", order, "'((A B) C)'") or "",
        machine=machine_argument(machine, accounting),
        schedule=check.text_or_none("schedule", schedule, "a fused schedule"),
        simulate=check.flag("simulate", simulate),
    )
    name = check.text("chain", chain, "'fourindex:1'")
    with check.Progress(progress, "fusing") as show:
        all_ = [Fused(one) for one in _tcsim.fused(name, check.sizes(sizes), progress=show, **how)]
    return all_[0] if len(all_) == 1 else all_


class _SweepHandle:
    def __init__(self, fields) -> None:
        self._fields = fields

    def record(self):
        return self._fields

    def table(self) -> str:
        f = self._fields
        return f"study {f['study']}: {f['designs']} designs, {f['points']} points\n{f['text']}\nresults in {f['folder']}\n"


def sweep(study, folder=None, *, resume=False, threads=1, host=None, progress=None) -> Sweep:
    """Computes a study of many workloads, machines and knobs into a folder.

    Args:
        study: the path of its file, or its text (TOML, several lines).
        folder: where results go; one that is made for the study otherwise.
        resume: go on with what the folder has.
        threads: at most so many; results do not depend on it.
        host: what "host" in the study stands for, a Machine.

    Returns:
        Sweep: `designs`, `points`, `text`; frame() has a row for each design.

    Raises:
        KeyboardInterrupt: what is there stays in the folder; `resume` goes on.
    """
    study = check.text("study", study, "'data/studies/l3-growth.toml'")
    text = study if "\n" in study else ""
    if folder is None:
        folder = tempfile.mkdtemp(prefix="tcsim-sweep-")
        folder = os.path.join(folder, "results")
    folder = check.text("folder", folder, "'results'")
    with check.Progress(progress, "sweep") as show:
        fields = _tcsim.sweep_into(
            "study" if text else study, text, folder, check.flag("resume", resume),
            check.whole("threads", threads, 1, 4096), None if host is None else machine_argument(host), show,
        )
    return Sweep(_SweepHandle(fields))
