#!/usr/bin/env bash
# Installs what a wheel holds, and imports it from there.
# Usage: try_installed.sh CMAKE BUILD_DIR PYTHON
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$1" --install "$2" --component python --prefix "$prefix" >/dev/null
cd "$prefix"
env -u TCSIM_DATA_DIR PYTHONPATH="$prefix" "$3" -B - <<'EOF'
import os
import tcsim

here = os.path.dirname(os.path.abspath(tcsim.__file__))
assert here == os.path.join(os.getcwd(), "tcsim"), here
assert not os.path.exists(os.path.join(here, "_places.py")), "it would look in the source tree"
assert "e5-2680v4" in tcsim.machines() and "tccg" in tcsim.suites()
p = tcsim.predict("ij-ik-kj", "i7-6700k", sizes="i=96,j=96,k=96")
assert p.predicted_seconds > 0 and p.bottleneck
print(p)
EOF
