"""Pictures of results in matplotlib, in the window's colours.

Each function draws into `ax`, or into axes of its own, and returns the axes, for people to change
what they like. Numbers are those of the results; nothing is computed here but places on paper.
"""

import math

from ._errors import ArgumentTypeError, UsageError
from ._records import Sweep, WhatIf, WorkloadRecord

# Okabe and Ito's colours, which the colour-blind tell apart; each line also has dashes of its own
# and each area a pattern, as in the window.
_LINKS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#d6c61d"]
_DASHES = ["-", "--", "-.", ":", (0, (3, 1, 1, 1, 1, 1)), "-"]
_COMPUTE = "#cc79a7"
_TENSORS = {"A": "#0072b2", "B": "#e69f00", "C": "#009e73", "packed A": "#56b4e9", "packed B": "#d6c61d"}
_HATCHES = {"packed A": "///", "packed B": "\\\\\\"}
_TEXT, _FAINT, _GRID = "#1f2328", "#6a7078", "#e4e7eb"


def _axes(ax, size):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("tcsim.plot draws with matplotlib; install matplotlib") from None
    _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax


def _want(result, kind, what):
    if not isinstance(result, kind):
        raise ArgumentTypeError("result", f"{type(result).__name__} has no such picture", f"give {what}")


def _links(record) -> list:
    return [level["link"] for level in record.to_dict()["levels"]]


def link_colours(links) -> dict:
    """The window's colour of each link, from the core outward, and of "compute"."""
    return {**{link: _LINKS[min(i, 5)] for i, link in enumerate(links)}, "compute": _COMPUTE}


def _number(value) -> str:
    return f"{value:.4g}"


def _bytes(value) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024 or unit == "TiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    raise AssertionError


def _shown(value, unit) -> str:
    if unit == "bytes":
        return _bytes(value)
    if unit == "bytes_per_second":
        return f"{value / 1e9:.4g} GB/s"
    if unit == "hertz":
        return f"{value / 1e9:.4g} GHz"
    return _number(value)


def _seconds(value) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if value * scale >= 1 or unit == "us":
            return f"{value * scale:.3g} {unit}"
    raise AssertionError


def _grid(ax) -> None:
    ax.grid(True, color=_GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def roofline(*results, ax=None):
    """Attainable rate over operational intensity, a roof for each link, and each result on each of
    its links (flops over the link's bytes, and the predicted rate).

    Args:
        results: of optimize(), predict(), simulate(), report() or run(); the roofs are those of the first.
    """
    if not results:
        raise UsageError("results", "there are none", "give those of optimize() or predict()")
    for result in results:
        _want(result, WorkloadRecord, "a result of optimize(), predict(), simulate(), report() or run()")
        if "predicted_seconds" not in result:
            raise UsageError("results", "nothing is predicted for this machine", "take one that the model knows")
    ax = _axes(ax, (6.4, 4.4))
    marks = "osD^vP*X"
    roofs, intensities = [], []
    peak = results[0].peak_gflops * 1e9
    for i, level in enumerate(results[0].levels):
        if level.predicted_seconds > 0:
            roofs.append((i, level.link, level.predicted_bytes / level.predicted_seconds))
    for number, result in enumerate(results):
        for i, level in enumerate(result.levels):
            if level.predicted_bytes == 0:
                continue
            intensity = result.workload.flops / level.predicted_bytes
            intensities.append(intensity)
            rate = result.predicted_gflops
            ax.plot([intensity], [rate], marks[number % len(marks)], color=_LINKS[min(i, 5)],
                    markeredgecolor=_TEXT, markeredgewidth=0.6, zorder=3)
    low = min([*intensities, *(peak / bandwidth for _, _, bandwidth in roofs)]) / 4
    high = max([*intensities, *(peak / bandwidth for _, _, bandwidth in roofs)]) * 4
    for i, link, bandwidth in roofs:
        ridge = peak / bandwidth
        ax.plot([low, ridge, high], [low * bandwidth / 1e9, peak / 1e9, peak / 1e9], linestyle=_DASHES[min(i, 5)],
                color=_LINKS[min(i, 5)], label=f"{link}, {bandwidth / 1e9:.4g} GB/s")
    ax.plot([low, high], [peak / 1e9] * 2, color=_COMPUTE, linewidth=2, label=f"FMA peak, {peak / 1e9:.4g} GFLOPS")
    if len(results) > 1:
        for number, result in enumerate(results):
            ax.plot([], [], marks[number % len(marks)], color=_FAINT, label=result.workload.name)
    ax.set(xscale="log", yscale="log", xlim=(low, high), xlabel="flops per byte over the link", ylabel="GFLOPS",
           title=f"{results[0].workload.name} on {results[0].machine.name}")
    ax.legend(frameon=False, fontsize="small")
    _grid(ax)
    return ax


def curve(result, ax=None):
    """Predicted time along the knob of a whatif() of one, in the colour of what decides; crossovers
    are vertical lines, the machine as it is a circle, and a band 90 of 100 draws of measured rates."""
    _want(result, WhatIf, "a result of whatif() with one knob")
    if len(result.vary) != 1 or not result.points:
        raise UsageError("result", f"{len(result.vary)} knobs vary in it", "give whatif(..., 'L3.capacity=1x..4x')")
    ax = _axes(ax, (6.4, 4.0))
    knob, points = result.vary[0], result.points
    colours = _colours_of(result)
    values = [p.value for p in points]
    times = [p.predicted_seconds * 1e3 for p in points]
    if "predicted_seconds_5" in points[0]:
        ax.fill_between(values, [p.predicted_seconds_5 * 1e3 for p in points],
                        [p.predicted_seconds_95 * 1e3 for p in points], color=_GRID, label="in 90 of 100 draws")
    ax.plot(values, times, color=_FAINT, linewidth=1)
    for name in dict.fromkeys(p.bottleneck for p in points):
        inside = [(v, t) for v, t, p in zip(values, times, points) if p.bottleneck == name]
        ax.plot(*zip(*inside), "o", color=colours[name], markersize=5, label=name)
    for number, crossover in enumerate(result.crossovers):
        ax.axvline(crossover.value, color=_FAINT, linestyle=":", linewidth=1)
        # One below the other, as crossovers may lie close together.
        ax.annotate(f"{crossover['from']} to {crossover.to}, {_shown(crossover.value, knob.unit)}",
                    (crossover.value, 1), xycoords=("data", "axes fraction"), xytext=(3, -4 - 12 * (number % 6)),
                    textcoords="offset points", va="top", fontsize="small", color=_FAINT)
    ax.plot([knob.value], [result.predicted_seconds * 1e3], "o", markersize=11, markerfacecolor="none",
            markeredgecolor=_TEXT, label="the machine as it is")
    ax.set(xscale="log", xlabel=knob.knob, ylabel="predicted time, ms", ylim=(0, None),
           title=f"{result.workload.name} on {result.machine.name}")
    _knob_ticks(ax.xaxis, values, knob.unit)
    ax.legend(frameon=False, fontsize="small")
    _grid(ax)
    return ax


def _knob_ticks(axis, values, unit) -> None:
    from matplotlib.ticker import NullFormatter, NullLocator

    step = max(1, math.ceil(len(values) / 6))
    some = values[::step]
    axis.set_ticks(some, [_shown(v, unit) for v in some])
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _colours_of(result) -> dict:
    machine = result._handle.machine() if hasattr(result._handle, "machine") else None
    if machine is not None:
        return link_colours([level.link for level in machine.levels])
    names = [p["bottleneck"] for p in result.points if "bottleneck" in p]
    return link_colours([name for name in dict.fromkeys(names) if name != "compute"])


def map(result, ax=None):
    """What decides for every pair of values of a whatif() of two knobs, with the time in each cell."""
    from matplotlib.patches import Patch

    _want(result, WhatIf, "a result of whatif() with two knobs")
    if len(result.vary) != 2:
        raise UsageError("result", f"{len(result.vary)} knobs vary in it", "give whatif(..., [one knob, another])")
    ax = _axes(ax, (6.8, 4.8))
    colours = _colours_of(result)
    rows = list(dict.fromkeys(p["values"][0] for p in result.points))
    columns = list(dict.fromkeys(p["values"][1] for p in result.points))
    there = []
    for point in result.points:
        y, x = rows.index(point["values"][0]), columns.index(point["values"][1])
        if "bottleneck" not in point:
            ax.add_patch(_cell(x, y, "white", hatch="xx"))
            continue
        there.append(point.bottleneck)
        ax.add_patch(_cell(x, y, colours[point.bottleneck]))
        ax.text(x, y, _seconds(point.predicted_seconds), ha="center", va="center", fontsize="x-small", color=_TEXT)
    units = [knob.unit for knob in result.vary]
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.5, len(rows) - 0.5), xlabel=result.vary[1].knob,
           ylabel=result.vary[0].knob, title=f"{result.workload.name} on {result.machine.name}")
    ax.set_xticks(range(len(columns)), [_shown(v, units[1]) for v in columns], rotation=30, ha="right")
    ax.set_yticks(range(len(rows)), [_shown(v, units[0]) for v in rows])
    ax.legend(handles=[Patch(color=colours[name], alpha=0.6, label=name) for name in dict.fromkeys(there)],
              frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _cell(x, y, colour, hatch=None):
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, alpha=0.6, hatch=hatch, edgecolor="white")


def traffic(*results, ax=None, of="seconds"):
    """Bytes over each link by tensor, a stack for each link and result: what is simulated where it
    was, otherwise what is predicted.

    Args:
        of: "seconds": as the time that they take on their link, so that the longest stack decides;
            "bytes": as bytes, on links that differ by orders of magnitude.
    """
    if not results:
        raise UsageError("results", "there are none", "give those of simulate() or predict()")
    if of not in ("seconds", "bytes"):
        raise UsageError("of", f"{of!r} is unknown", "use seconds or bytes")
    for result in results:
        _want(result, WorkloadRecord, "a result of optimize(), predict(), simulate(), report() or run()")
        if of == "seconds" and "predicted_seconds" not in result:
            raise UsageError("of", "nothing is predicted for this machine", "use of='bytes'")
    ax = _axes(ax, (6.8, 0.9 + 0.42 * sum(len(r.levels) + 1 for r in results)))
    labels, place, shown = [], 0, set()
    for result in results:
        for level in result.levels:
            left = 0.0
            kind = "simulated_bytes" if "simulated_bytes" in level else "predicted_bytes"
            scale = 1.0
            if of == "seconds":
                scale = level.predicted_seconds / level.predicted_bytes * 1e3 if level.predicted_bytes else 0.0
            for name, moved in level.get("by_tensor", {}).items():
                width = moved.get(kind, 0) * scale
                ax.barh(place, width, left=left, color=_TENSORS[name], hatch=_HATCHES.get(name), edgecolor="white",
                        linewidth=0.5, label=name if name not in shown else None)
                shown.add(name)
                left += width
            labels.append((place, level.link if len(results) == 1 else f"{result.workload.name} {level.link}"))
            place += 1
        if of == "seconds" and result.get("compute_seconds"):
            ax.barh(place, result.compute_seconds * 1e3, color=_COMPUTE, hatch="///", edgecolor="white",
                    label="compute" if "compute" not in shown else None)
            shown.add("compute")
            labels.append((place, "compute" if len(results) == 1 else f"{result.workload.name} compute"))
            place += 1
    ax.set_yticks([p for p, _ in labels], [name for _, name in labels])
    ax.invert_yaxis()
    ax.set(xlabel="time on the link, ms" if of == "seconds" else "bytes",
           title=" and ".join(f"{r.workload.name} on {r.machine.name}" for r in results[:2]))
    ax.legend(frameon=False, fontsize="small")
    _grid(ax)
    return ax


def pareto(result, x="area_mm2", y="total_seconds", ax=None):
    """The designs of a sweep() by two columns of a design, with the Pareto front of the study
    (time, area and energy) in colour and the machines as they are as circles.

    Args:
        result: of sweep(), or a pandas.DataFrame with its columns (Sweep.designs_frame()).
        x, y: columns: "area_mm2", "total_seconds", "total_joules", "cost", a knob's, ...
    """
    designs = result.designs_frame() if isinstance(result, Sweep) else result
    for name in (x, y):
        if name not in getattr(designs, "columns", []):
            raise UsageError("result", f"it has no column '{name}'", "name one of Sweep.designs_frame().columns")
    ax = _axes(ax, (6.4, 4.4))
    front = designs[designs["pareto"] == 1].sort_values(x)
    others = designs[(designs["pareto"] != 1) & (designs["base"] == 0)]
    base = designs[designs["base"] == 1]
    ax.plot(others[x], others[y], "o", color=_FAINT, alpha=0.4, markersize=4, label="designs")
    ax.plot(front[x], front[y], "o-", color=_LINKS[3], markersize=6, label="Pareto front")
    if base[x].notna().any():
        ax.plot(base[x], base[y], "o", markersize=11, markerfacecolor="none", markeredgecolor=_TEXT,
                label="machines as they are")
    ax.set(xlabel=_words(x), ylabel=_words(y))
    ax.legend(frameon=False, fontsize="small")
    _grid(ax)
    return ax


def _words(column: str) -> str:
    for end, unit in (("_mm2", "mm2"), ("_seconds", "s"), ("_joules", "J"), ("_bytes", "bytes")):
        if column.endswith(end):
            return f"{column[: -len(end)].replace('_', ' ')}, {unit}"
    return column.replace("_", " ")
