"""python3 -m tcsim from-onnx MODEL [DIMS]: the network's suite as JSON, for `tcsim list workloads --from`."""

import json
import sys

from . import Error, from_onnx


def main(arguments) -> int:
    if len(arguments) not in (2, 3) or arguments[0] != "from-onnx":
        print(__doc__, file=sys.stderr)
        return 2
    dims = {}
    try:
        for part in filter(None, arguments[2].split(",") if len(arguments) == 3 else []):
            name, _, extent = part.partition("=")
            dims[name] = int(extent) if extent.isdecimal() else extent
        network = from_onnx(arguments[1], dims=dims)
    except Error as error:
        kind = next(c.__name__ for c in type(error).__mro__ if c.__name__ in ("UsageError", "InputError", "UnsupportedError"))
        print(json.dumps({"error": kind, "place": error.place, "problem": error.problem, "mend": error.mend}))
        return 2
    except ImportError as error:
        print(error, file=sys.stderr)
        return 4
    print(json.dumps({"toml": network.toml(), "counts": [l.count for l in network], "left_out": network.left_out}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
