"""Chains from contraction paths of other libraries."""

from . import _arguments as check
from ._errors import ArgumentTypeError, UsageError


def chain_from_path(equation, path) -> str:
    """The statements of a contraction of many tensors, in the order of a path.

    Args:
        equation: einsum with all operands, "ap,bq,cr,pqrs->abcs".
        path: as opt_einsum.contract_path(), numpy.einsum_path() and cotengra's tree.get_path() give it: pairs of
            positions in the list of what is left; a result goes to its end.

    Returns:
        "T1[...] += A[...] * B[...]; ...", a chain that bounds() takes with `sizes`, and `tcsim fuse`.
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
