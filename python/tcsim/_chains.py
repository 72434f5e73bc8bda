"""Chains from contraction paths of other libraries, and from the terms of coupled-cluster codes."""

import re

from . import _arguments as check
from ._errors import ArgumentTypeError, UsageError


def chain_from_path(equation, path) -> str:
    """The statements of a contraction of many tensors, in the order of a path.

    Args:
        equation: einsum with all operands, "ap,bq,cr,pqrs->abcs".
        path: as opt_einsum.contract_path(), numpy.einsum_path() and cotengra's tree.get_path() give it: pairs of
            positions in the list of what is left; a result goes to its end.

    Returns:
        "T1[...] += A[...] * B[...]; ...", a chain that bounds() and fuse() take with `sizes`.
        Operands are A, B, C, ... in their order, intermediates T1, T2, ..., the result is R.

    Raises:
        UsageError: for a path that takes other than two at a time, or does not end in one tensor.
    """
    equation = check.text("equation", equation, "'ap,bq,pq->ab'").replace(" ", "")
    operands, arrow, output = equation.partition("->")
    terms = operands.split(",")
    if not arrow or len(terms) < 2 or not all(set(t) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") for t in [*terms, output]):
        raise UsageError("equation", f"'{equation}' is no einsum of several tensors", "write 'ap,bq,pq->ab'")
    if len(terms) > 26:
        raise UsageError("equation", f"it has {len(terms)} operands", "give at most 26")
    try:
        steps = [tuple(int(i) for i in step) for step in path if not isinstance(step, str)]
    except (TypeError, ValueError):
        raise ArgumentTypeError("path", f"{check._shown(path)} is no path", "give pairs such as [(0, 1), (0, 1)]") from None
    left = [(chr(ord("A") + i), indices) for i, indices in enumerate(terms)]
    statements = []
    for number, step in enumerate(steps, 1):
        if len(step) != 2 or step[0] == step[1] or not all(0 <= i < len(left) for i in step):
            raise UsageError("path", f"step {number} is {step}, with {len(left)} tensors left", "give two positions")
        (a, ia), (b, ib) = (left[i] for i in step)
        left = [t for i, t in enumerate(left) if i not in step]
        needed = set(output).union(*(indices for _, indices in left))
        kept = output if not left else "".join(i for i in dict.fromkeys(ia + ib) if i in needed)
        name = "R" if not left else f"T{number}"
        access = lambda tensor, indices: f"{tensor}[{','.join(indices)}]"
        statements.append(f"{access(name, kept)} += {access(a, ia)} * {access(b, ib)}")
        left.append((name, kept))
    if len(left) != 1:
        raise UsageError("path", f"{len(left)} tensors are left at its end", "contract them all")
    return "; ".join(statements)


# As the Tensor Contraction Engine prints a term, also as the comment of a program that it made:
# "i0 ( p2 h1 )_tf + = -1/2 * P( 2 ) * Sum ( h7 ) * t ( p2 h7 )_t * i1 ( h7 h1 )_f". What stands behind is a remark.
_TENSOR = r"([A-Za-z]\w*) \(((?: \w+)*) \)_?\w*"
_TERM = re.compile(
    rf"^[Cc!*#]?(\s*){_TENSOR} \+ = (-?\d+(?:/\d+)?)((?: \* P\( \d+ \))*)(?: \* Sum \(((?: \w+)*) \))?((?: \* {_TENSOR})+)"
)
_INDEX = re.compile(r"[hp]\d+")
_LETTERS = {"h": "ijklmnoIJKLMNO", "p": "abcdefghABCDEFGH"}  # of holes and of particles, as the field has them
_LONGEST = 1 << 20
_DEEPEST = 100


class _Term:
    def __init__(self, line, found) -> None:
        self.line = line
        self.depth = len(found[1])
        self.out = (found[2], tuple(found[3].split()))
        self.summed = set((found[6] or "").split())
        self.factors = [(name, tuple(indices.split())) for name, indices in re.findall(rf" \* {_TENSOR}", found[7])]
        self.makes = {}  # of a factor: the terms whose sum it is

    def fail(self, problem: str, mend: str):
        raise UsageError("terms", f"line {self.line}: {problem}", mend)

    def check(self) -> None:
        for index in (i for _, indices in [self.out, *self.factors] for i in indices):
            if not _INDEX.fullmatch(index):
                self.fail(f"'{index}' is no index of holes or particles", "write h1 or p2")
        for _, indices in [self.out, *self.factors]:
            if len(set(indices)) != len(indices):
                self.fail(f"{check._shown(' '.join(indices))} names an index twice", "give each a name of its own")
        made = set().union(*(indices for _, indices in self.factors)) - self.summed
        if made != set(self.out[1]):
            self.fail("what is summed is not what its result leaves out", "give the term as it was printed")


def _terms(text: str) -> list:
    """The tree of terms: those of the results, each with those of its intermediates."""
    roots, above = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > _LONGEST:
            raise UsageError("terms", f"line {number} has {len(line)} characters", "give one term on a line")
        found = _TERM.match(line)
        if not found:
            if "+ =" in line:
                raise UsageError("terms", f"line {number} is no term: {check._shown(line.strip()[:60])}",
                                 "write it as 'i0 ( p2 h1 )_t + = -1 * Sum ( h7 ) * t ( p2 h7 )_t * f ( h7 h1 )_f'")
            continue
        term = _Term(number, found)
        term.check()
        while above and above[-1].depth >= term.depth:
            above.pop()
        if len(above) == _DEEPEST:
            term.fail(f"it stands {_DEEPEST} terms deep", "indent it as it was printed")
        if not above:
            roots.append(term)
        elif term.out not in above[-1].factors:
            term.fail(f"{term.out[0]} ( {' '.join(term.out[1])} ) is no factor of the term above it",
                      "indent it below the term that it belongs to")
        else:
            above[-1].makes.setdefault(term.out, []).append(term)
        above.append(term)
    return roots


def chains_from_tce(terms) -> list:
    """The contractions of coupled-cluster equations as the Tensor Contraction Engine prints them.

    Args:
        terms: the printed terms, or a program that the engine made: its comments hold them. An
            intermediate's terms stand below the term that it is a factor of, further in.

    Returns:
        A list of chains, "i1_hh[h7,h1] += t_ph[p3,h1] * f_hp[h7,p3]; ...", which bounds() and
        `tcsim fuse` take with tce_sizes(). Each contraction is in one of them. An intermediate that
        is a sum of several terms is made by chains of its own and read by the one that uses it;
        terms that only copy a tensor are no contractions and are left out. Factors and
        permutations P change no traffic of a contraction and are dropped. A tensor is named with
        its spaces, since f ( h7 h1 ) and f ( p2 p3 ) are different blocks.

    Raises:
        UsageError: for a term that cannot be read, with its line.
    """
    terms = check.text("terms", terms, "'i0 ( p2 h1 )_tf + = 1 * Sum ( p3 ) * t ( p3 h1 )_t * f ( p2 p3 )_f'")
    chains = []

    def access(name, indices) -> str:
        return f"{name}_{''.join(i[0] for i in indices)}[{','.join(indices)}]" if indices else f"{name}[]"

    def lettered(statement, letters) -> str:
        def letter(found):
            index = found[0]
            if index not in letters:
                rest = [l for l in _LETTERS[index[0]] if l not in letters.values()]
                if not rest:
                    raise UsageError("terms", f"a chain has more than {len(_LETTERS[index[0]])} indices of one space",
                                     "give fewer of its terms")
                letters[index] = rest[0]
            return letters[index]

        return re.sub(r"\[[^\]]*\]", lambda access: _INDEX.sub(letter, access[0]), statement)

    def walk(term, result) -> list:
        """The statements that end in this term's result."""
        if len(term.factors) > 2:
            term.fail(f"it has {len(term.factors)} factors", "give terms of two, as the engine factorises them")
        statements, read = [], []
        for factor in term.factors:
            name, makers = factor[0], term.makes.get(factor, [])
            if len(makers) == 1 and len(makers[0].factors) == 2:  # made and used within the chain
                name = f"T{makers[0].line}"
                statements += walk(makers[0], name)
            else:
                for maker in makers:
                    finish(walk(maker, name))
            read.append(access(name, factor[1]))
        if len(read) == 2:
            statements.append(f"{access(result, term.out[1])} += {read[0]} * {read[1]}")
        return statements

    def finish(statements) -> None:
        if statements:
            letters = {}
            chains.append("; ".join(lettered(s, letters) for s in statements))

    for root in _terms(terms):
        finish(walk(root, root.out[0]))
    if not chains:
        raise UsageError("terms", "there is no contraction in it", "give the terms that the engine prints")
    return chains


def tce_sizes(chain, occupied, virtual) -> dict:
    """Sizes for a chain of chains_from_tce(): its holes are `occupied` long, its particles `virtual`."""
    chain = check.text("chain", chain, "chains_from_tce(terms)[0]")
    long = {
        "h": check.whole("occupied", occupied, 1, 2**40),
        "p": check.whole("virtual", virtual, 1, 2**40),
    }
    space = {letter: kind for kind, letters in _LETTERS.items() for letter in letters}
    indices = dict.fromkeys(i for part in re.findall(r"\[([^\]]*)\]", chain) for i in part.split(",") if i)
    for index in indices:
        if index not in space:
            raise UsageError("chain", f"'{index}' is no index of holes or particles", "give a chain of chains_from_tce()")
    return {i: long[space[i]] for i in indices}
