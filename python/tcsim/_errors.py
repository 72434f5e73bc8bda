"""Exceptions with the command line's text: where, what is wrong, and what would be right."""


class Error(Exception):
    """Base of what tcsim refuses. str() reads "PLACE: PROBLEM; MEND".

    Attributes:
        place: where it is: an argument, a file with line and column, a knob.
        problem: what is wrong.
        mend: what would be right.
    """

    place: str
    problem: str
    mend: str

    def __init__(self, place: str, problem: str, mend: str = "") -> None:
        self.place, self.problem, self.mend = place, problem, mend
        text = f"{place}: {problem}" if place else problem
        super().__init__(f"{text}; {mend}" if mend else text)

    def __reduce__(self):
        return type(self), (self.place, self.problem, self.mend)


class UsageError(Error, ValueError):
    """An argument cannot be meant."""


class ArgumentTypeError(UsageError, TypeError):
    """An argument is of a type that cannot be meant."""


class InputError(Error, ValueError):
    """A file, or a text in a file's place, is wrong; `place` has line and column."""


class UnsupportedError(Error, RuntimeError):
    """The request is fine, but this machine or this model cannot do it."""
