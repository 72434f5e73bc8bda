"""Results: fields of the command line's JSON, its tables, HTML and data frames."""

import html
import json
from collections.abc import Mapping


class Fields(Mapping):
    """Named values, as attributes and as items. Immutable."""

    __slots__ = ("_fields",)

    def __init__(self, fields: dict) -> None:
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} has no field '{name}'; there are {', '.join(self._fields)}"
            ) from None

    def __getitem__(self, name):
        return _wrapped(self._fields[name])

    def __setattr__(self, name, value):
        raise AttributeError("results do not change")

    def __iter__(self):
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self):
        return [*super().__dir__(), *(k for k in self._fields if str(k).isidentifier())]

    def __eq__(self, other) -> bool:
        return isinstance(other, Fields) and self._fields == other._fields

    def __repr__(self) -> str:
        return f"Fields({self._fields!r})"

    def __reduce__(self):
        return Fields, (self._fields,)

    def to_dict(self) -> dict:
        """A copy of plain dicts, lists and numbers."""
        return json.loads(json.dumps(self._fields))


def _wrapped(value):
    if isinstance(value, dict):
        return Fields(value)
    if isinstance(value, list):
        return tuple(_wrapped(one) for one in value)
    return value


def _shown(value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def html_table(caption: str, columns, rows, footer=()) -> str:
    """A table of plain HTML; `footer` is pairs."""
    cell = lambda tag, value: f"<{tag}>{html.escape(_shown(value))}</{tag}>"
    head = "".join(cell("th", c) for c in columns)
    body = "".join("<tr>" + "".join(cell("td", v) for v in row) + "</tr>" for row in rows)
    span = max(1, len(columns) - 1)
    foot = "".join(f'<tr>{cell("th", k)}<td colspan="{span}">{html.escape(_shown(v))}</td></tr>' for k, v in footer)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody><tfoot>{foot}</tfoot></table>"
    )


class Record(Fields):
    """A result. Fields are those of the command line's JSON (docs/results.md): numbers in SI units,
    bytes as whole numbers. print() shows the command line's table, a notebook a table of HTML."""

    __slots__ = ("_handle",)

    def __init__(self, handle, fields=None) -> None:
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "_fields", handle.record() if fields is None else fields)

    def __reduce__(self):
        return Record._restored, (type(self), self._fields, str(self))

    @staticmethod
    def _restored(kind, fields, table):
        return kind(_Kept(fields, table), fields)

    def __str__(self) -> str:
        return self._handle.table()

    def __repr__(self) -> str:
        parts = [self._name()]
        for name in ("predicted_seconds", "simulated_seconds", "measured_seconds"):
            if isinstance(self._fields.get(name), float):
                parts.append(f"{name} {self._fields[name]:.4g}")
        if "bottleneck" in self._fields:
            parts.append(f"bottleneck {self._fields['bottleneck']}")
        return f"<tcsim.{type(self).__name__} {', '.join(parts)}>"

    def _name(self) -> str:
        workload = self._fields.get("workload", {}).get("name", "")
        machine = self._fields.get("machine", {}).get("name")
        return workload if machine is None else f"{workload} on {machine}"

    def _rows(self) -> list:
        """What a data frame has a row for: flat dicts."""
        return []

    def json(self) -> str:
        """The record as the command line writes it."""
        return json.dumps(self._fields, indent=2, ensure_ascii=False)

    def frame(self):
        """A pandas.DataFrame of the result's rows."""
        try:
            import pandas
        except ImportError:
            raise ImportError("frame() makes a pandas.DataFrame; install pandas") from None
        return pandas.DataFrame(self._rows())

    def _repr_html_(self) -> str:
        rows = self._rows()
        columns = list(dict.fromkeys(name for row in rows for name in row if name not in ("workload", "machine", "schedule")))
        footer = [
            (k, v)
            for k, v in self._fields.items()
            if isinstance(v, (str, int, float)) and k not in ("schema", "command", "tcsim_version", "seed", "model")
        ]
        return html_table(
            f"{self._fields.get('command', '')} {self._name()}", columns, [[row.get(c) for c in columns] for row in rows], footer
        )


class _Kept:
    """What a pickled result has left: its fields and its table."""

    def __init__(self, fields, table) -> None:
        self._fields, self._table = fields, table

    def record(self):
        return self._fields

    def table(self):
        return self._table


def _flat(fields: dict) -> dict:
    return {k: v for k, v in fields.items() if not isinstance(v, (dict, list))}


class WorkloadRecord(Record):
    """A result about one workload on one machine.

    Attributes:
        workload, machine: `name`, `label`, `sizes`, ...; `name`, `hash`.
        levels: of each level, from the core outward, `name`, `link`, and what is known:
            `predicted_bytes`, `simulated_bytes`, `bound_bytes`, `predicted_seconds`, `by_tensor`, `cache`.
        predicted_seconds, predicted_gflops, compute_seconds, peak_gflops: of one core.
        bottleneck: the link that decides, or "compute".
        certificate: `relaxed_bound_seconds`, `achieved_seconds`, `gap` (a fraction), of the optimizer's choice.
    """

    __slots__ = ()

    @property
    def schedule(self):
        """The schedule, as an object."""
        return self._handle.schedule()

    def _rows(self) -> list:
        head = {"workload": self._fields["workload"]["name"], "machine": self._fields["machine"]["name"]}
        rows = []
        for level in self._fields["levels"]:
            row = {**head, **_flat(level)}
            row.update({k: v for k, v in level.get("cache", {}).items()})
            rows.append(row)
        return rows

    def by_tensor(self):
        """A pandas.DataFrame of bytes by link and tensor: what is simulated, otherwise what is predicted."""
        import pandas

        rows = {}
        for level in self._fields["levels"]:
            tensors = level.get("by_tensor", {})
            rows[level["link"]] = {
                name: moved.get("simulated_bytes", moved.get("predicted_bytes", 0)) for name, moved in tensors.items()
            }
        return pandas.DataFrame.from_dict(rows, orient="index").fillna(0)


class Optimized(WorkloadRecord):
    """A schedule that optimize() chose, its prediction and its certificate."""

    __slots__ = ()


class Prediction(WorkloadRecord):
    """What the model says of a schedule."""

    __slots__ = ()


class Report(WorkloadRecord):
    """A prediction beside its simulation, with `bound_bytes` of each link and `what_would_help`."""

    __slots__ = ()


class Simulation(WorkloadRecord):
    """What a simulation of the caches counted, beside the prediction."""

    __slots__ = ()


class Run(WorkloadRecord):
    """What a run on this machine took: `measured_seconds`, `measured_gflops`, `repetitions_seconds`,
    `check_error_over_bound` (at most 1 is correct)."""

    __slots__ = ()


class WhatIf(Record):
    """Predicted time along one or two knobs: `points`, `crossovers`, `elasticities`, `text`."""

    __slots__ = ()

    def _rows(self) -> list:
        names = [knob["knob"] for knob in self._fields["vary"]]
        rows = []
        for point in self._fields["points"]:
            row = _flat(point)
            for i, name in enumerate(names):
                row[name] = point["value"] if "value" in point else point["values"][i]
            rows.append({**{name: row.pop(name) for name in names}, **row})
        if not names:
            for one in self._fields.get("elasticities", []):
                for step in ("up", "down"):
                    if step in one:
                        rows.append({"knob": one["knob"], "step": step, **one[step]})
        return rows


class Bounds(Record):
    """How little any order of the multiply-adds moves: `lower_elements` (proven), `upper_elements`
    (what a schedule moves), `operations`, and the expressions `lower_symbolic`, `upper_symbolic`."""

    __slots__ = ()

    def _rows(self) -> list:
        head = {"workload": self._fields["workload"]["name"]}
        if "bounds" in self._fields:
            return [{**head, **_flat(row)} for row in self._fields["bounds"]]
        return [{**head, **_flat(self._fields)}]


class Fused(Record):
    """What fusing a chain brings: `fuse` (whether it pays), and of the programs `fused`, `unfused` and
    `given` the `schedule`, `levels` and `predicted_seconds`. frame() has a row for each program and link."""

    __slots__ = ()

    def _rows(self) -> list:
        head = {"chain": self._fields["workload"]["name"]}
        return [
            {**head, "program": name, **_flat(level), "program_seconds": self._fields[name]["predicted_seconds"]}
            for name in ("given", "fused", "unfused")
            if name in self._fields
            for level in self._fields[name]["levels"]
        ]


class Sweep(Record):
    """A study's outcome: `designs`, `points`, `text`, and the `folder` that has its results
    (report.html, results.csv, results.sqlite, ...; docs/sweep.md)."""

    __slots__ = ()

    def _name(self) -> str:
        return self._fields["study"]

    def frame(self):
        """A pandas.DataFrame of results.csv: a row for each point, with its design's columns before
        (docs/sweep.md has them all)."""
        import os

        import pandas

        return pandas.read_csv(os.path.join(self._fields["folder"], "results.csv"))

    def designs_frame(self):
        """The same with a row for each design, and the columns of a design alone."""
        points = self.frame()
        columns = list(points.columns)
        return points[columns[: columns.index("workload")]].drop_duplicates("design").reset_index(drop=True)
