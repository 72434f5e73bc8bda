"""Machines."""

import os
import warnings

from . import _arguments as check
from ._errors import ArgumentTypeError, UsageError
from ._records import Fields
from ._tcsim import Machine, find_machine, host_machine, parse_machine


class MachineWarning(UserWarning):
    """A value that had to give way, or what predictions for a machine leave out."""


def _knob_texts(machine, changes) -> list:
    """'L3.capacity=64MiB' of texts, or of a mapping from knobs to texts or SI numbers."""
    if isinstance(changes, str):
        return [check.text("set", changes, "'L3.capacity=64MiB'")]
    try:
        items = list(changes.items())
    except AttributeError:
        return check.texts("set", changes, "'L3.capacity=64MiB'")
    texts = []
    for name, value in items:
        name = check.text("set", name, "'L3.capacity'")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = machine.exact_(name, check.number(name, value))
        texts.append(f"{name}={check.text(name, value, repr('64MiB'))}")
    return texts


def _set(self, changes=None, **knobs):
    """Another machine with figures changed; this one stays as it is.

    Args:
        changes: {"L3.capacity": "64MiB", "memory.bandwidth": "1.5x"}, or texts such as
            "L3.capacity=64MiB". A number is in SI units: bytes, bytes per second, hertz; cycles and
            counts as they are. `knobs()` lists the names.
        **knobs: the same as keywords, with _ for the dot: L3_capacity="64MiB".

    Returns:
        A Machine. Where a value had to give way (a capacity to whole sets) a MachineWarning says so.

    Raises:
        UsageError: for a knob that there is not, or a value that it cannot have.
    """
    if changes is None and not knobs:
        raise UsageError("set", "nothing is changed", "give {'L3.capacity': '64MiB'}")
    texts = _knob_texts(self, changes) if changes is not None else []
    for name, value in knobs.items():
        texts += _knob_texts(self, {name.replace("_", ".", 1): value})
    machine, notes = self.with_set_(texts)
    for note in notes:
        warnings.warn(note, MachineWarning, stacklevel=2)
    return machine


def _derive(self, name=None, changes=None, *, description=None, **knobs):
    """Another machine under another name, with figures changed as by set()."""
    machine = self.set(changes, **knobs) if changes is not None or knobs else self
    return machine.named_(
        check.text_or_none("name", name, "'larger-L3'"),
        check.text_or_none("description", description, "'as it is, with a larger L3'"),
    )


def _knob(self, name):
    """A figure as (value, unit): ("L3.capacity" -> (36700160.0, "bytes")); rates per second."""
    return self.knob_(check.text("knob", name, "'L3.capacity'"))


def _save(self, path) -> None:
    """Writes the machine's file (TOML), which machine() reads back to the last bit."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(self.toml())


def _html(self) -> str:
    from ._records import html_table

    columns = ["name", "capacity", "ways", "line", "bandwidth", "latency_cycles", "shared_by"]
    return html_table(f"{self.name} {self.description}", columns, [[l[c] for c in columns] for l in self.levels])


def _frame(self):
    """A pandas.DataFrame with a row for each level."""
    import pandas

    return pandas.DataFrame([l.to_dict() for l in self.levels])


Machine.set = _set
Machine.derive = _derive
Machine.knob = _knob
Machine.knobs = lambda self: {name: self.knob_(name) for name in self.knob_names_()}
Machine.knobs.__doc__ = """All figures that can be set, as {name: (value, unit)}."""
Machine.__getitem__ = lambda self, name: self.knob(name)[0]
Machine.levels = property(
    lambda self: [Fields(level) for level in self.levels_],
    doc="The memory levels from the core outward: name, link, capacity (bytes, None: unlimited), ways, line (bytes), "
    "sets, bandwidth (bytes/s of the link inward), latency_cycles, energy (J/byte), and the rules of the caches.",
)
Machine.peak = lambda self, type="f64": self.peak_(check.word("type", type, "f64", "f32"))
Machine.peak.__doc__ = """The FMA peak of one core, in flops per second."""
Machine.save = _save
Machine.frame = _frame
Machine._repr_html_ = _html
Machine.__doc__ = """A machine: memory levels and a core. Immutable, and safe for several threads.

machine() makes one, set() and derive() others from it. machine["L3.capacity"] is a figure in SI
units. `hash` tells machines with different results apart; `warning` says what predictions leave out.
"""


def machine(name="host", set=None, *, accounting=None, progress=None) -> Machine:
    """A machine by name, from a file, or this one.

    Args:
        name: a shipped name ("e5-2680v4"; `machines()` lists them), the path of a machine file, the
            text of one (TOML, several lines), or "host": this machine, measured on first use.
        set: changes, as Machine.set() takes them.
        accounting: "honest" or "paper"; what the machine says otherwise.
        progress: True, False, or a function of the share; while this machine is measured.

    Raises:
        UsageError: for a name that is neither.
        InputError: for a file that is wrong, with line and column.
    """
    check.wish_of(progress)
    if isinstance(name, Machine):
        found = name
    else:
        name = check.text("machine", name, "'e5-2680v4', a file's path, or 'host'")
        if name == "host":
            with check.Progress(progress, "measuring this machine") as show:
                found = host_machine(show)
        elif "\n" in name:
            found = parse_machine(name, "machine")
        else:
            found = find_machine(name)
    if set is not None:
        found = found.set(set)
    if accounting is not None:
        found = found.with_accounting_(check.word("accounting", accounting, "honest", "paper"))
    return found


def machine_argument(value, accounting=None) -> Machine:
    if isinstance(value, Machine) or isinstance(value, (str, os.PathLike)):
        return machine(value, accounting=accounting)
    raise ArgumentTypeError(
        "machine", f"{check._shown(value)} is no machine", "give tcsim.machine('e5-2680v4') or its name"
    )
