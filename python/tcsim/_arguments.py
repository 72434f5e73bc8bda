"""What arguments may be, and the sentence where one is something else."""

import operator
import os
import sys

from ._errors import ArgumentTypeError, UsageError


def _shown(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def text(name: str, value, example: str) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise ArgumentTypeError(name, f"{_shown(value)} is no text", f"give one such as {example}")
    if "\0" in value:
        raise UsageError(name, "there is a zero character in it", "leave it out")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(name, f"{_shown(value)} is no valid text", "leave surrogates out") from None
    return value


def text_or_none(name: str, value, example: str):
    return None if value is None else text(name, value, example)


def word(name: str, value, *words: str) -> str:
    if value in words and isinstance(value, str):
        return value
    listed = ", ".join(words[:-1]) + " or " + words[-1]
    error = UsageError if isinstance(value, str) else ArgumentTypeError
    raise error(name, f"{_shown(value)} is unknown", f"use {listed}")


def whole(name: str, value, least: int, most: int = 2**31 - 1) -> int:
    range_ = f"give a whole number from {least} to {most}"
    if isinstance(value, bool):
        raise ArgumentTypeError(name, f"{value} is no whole number", range_)
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(name, f"{_shown(value)} is no whole number", range_) from None
    if not least <= number <= most:
        raise UsageError(name, f"{number} is out of range", range_)
    return number


def whole_range(name: str, value) -> tuple[int, int]:
    """(first, behind the last); all from 0 on where value is None."""
    if value is None:
        return 0, 2**63 - 1
    try:
        first, end = value
    except (TypeError, ValueError):
        raise ArgumentTypeError(name, f"{_shown(value)} is no pair", "give (first, behind the last)") from None
    return whole(name, first, 0, 2**63 - 2), whole(name, end, 1, 2**63 - 1)


def number(name: str, value) -> float:
    if isinstance(value, bool) or isinstance(value, str):
        raise ArgumentTypeError(name, f"{_shown(value)} is no number", "give a number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeError(name, f"{_shown(value)} is no number", "give a number") from None


def flag(name: str, value) -> bool:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise ArgumentTypeError(name, f"{_shown(value)} is neither True nor False", "give one of them")


def texts(name: str, value, example: str) -> list:
    """One text, or several."""
    if value is None:
        return []
    if isinstance(value, (str, os.PathLike)):
        return [text(name, value, example)]
    try:
        values = list(value)
    except TypeError:
        raise ArgumentTypeError(
            name, f"{_shown(value)} is neither a text nor several", f"give one such as {example}"
        ) from None
    return [text(name, one, example) for one in values]


def sizes(value) -> str:
    """'a=72,b=72' of a text or a mapping."""
    if value is None:
        return ""
    if isinstance(value, str):
        if not value:
            raise UsageError("sizes", "the text is empty", "write 'a=72,b=72', or {'a': 72, 'b': 72}")
        return text("sizes", value, "'a=72,b=72'")
    try:
        items = list(value.items())
    except AttributeError:
        raise ArgumentTypeError(
            "sizes", f"{_shown(value)} is no mapping", "write {'a': 72, 'b': 72} or 'a=72,b=72'"
        ) from None
    if not items:
        raise UsageError("sizes", "there are none", "write {'a': 72, 'b': 72}")
    parts = []
    for key, extent in items:
        key = text("sizes", key, "'a'")
        if isinstance(extent, str):
            parts.append(f"{key}={text(key, extent, 'same')}")
        else:
            parts.append(f"{key}={whole(key, extent, 0, 2**62)}")
    return ",".join(parts)


def wish_of(progress) -> None:
    if progress is None or isinstance(progress, bool) or callable(progress):
        return
    raise ArgumentTypeError(
        "progress", f"{_shown(progress)} is no way to show it", "give True, False or a function of the share"
    )


def in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None


class Progress:
    """A bar of tqdm while work goes on, if it is there and somebody looks."""

    def __init__(self, wish, what: str) -> None:
        self.callback = None
        self._bar = None
        wish_of(wish)
        if wish is None:
            wish = in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
        if callable(wish):
            self.callback = wish
        elif wish:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=1.0, desc=what, leave=False, bar_format="{desc}: {percentage:3.0f} %|{bar}| {remaining}")
            self.callback = self._show

    def _show(self, share: float) -> None:
        self._bar.update(max(0.0, share - self._bar.n))

    def __enter__(self):
        return self.callback

    def __exit__(self, *_):
        if self._bar is not None:
            self._bar.close()
