#!/usr/bin/env bash
# try_installed.sh CMAKE BUILD: installs BUILD into a new folder, moves that, and sees that the
# programs take their files from there. A machine that only the moved folder has tells it from the
# source tree.
set -euo pipefail
cmake=$1 build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "$*" >&2; exit 1; }
unset TCSIM_DATA_DIR
export XDG_CACHE_HOME=$folder/cache

"$cmake" --install "$build" --prefix "$folder/first" >/dev/null
mv "$folder/first" "$folder/moved"
prefix=$folder/moved
share=$prefix/share/tcsim
sed '0,/^name = .*/s//name = "only-here"/' "$share/machines/i7-6700k.toml" >"$share/machines/only-here.toml"
ln -s "$prefix/bin/tcsim" "$folder/link"
cd "$folder"

for tcsim in "$prefix/bin/tcsim" moved/bin/tcsim ./link; do
  "$tcsim" list machines | grep >/dev/null '^only-here ' || fail "$tcsim does not list the machine beside it"
done
"$prefix/bin/tcsim" report ij-ik-kj --size i=48,j=48,k=48 --machine only-here | grep >/dev/null only-here ||
  fail "no report"
"$prefix/bin/tcsim" predict tccg:1 --machine only-here >/dev/null

if [ -x "$prefix/bin/tcsim-gui" ]; then
  printf 'schema = 1\n[design]\nworkload = "tccg:1"\nmachine = "only-here"\n' >a.toml
  QT_QPA_PLATFORM=offscreen "$prefix/bin/tcsim-gui" --session a.toml --view time --export a.csv
  [ -s a.csv ] || fail "no table of the window"
fi

# Without its files it says where it looked, and does not take those of the source tree.
mv "$share" "$folder/away"
code=0
"$prefix/bin/tcsim" list machines 2>said || code=$?
[ "$code" -eq 3 ] || fail "exit code $code without the files"
grep >/dev/null "not in $share" said || fail "the place is not named: $(cat said)"
TCSIM_DATA_DIR=$folder/away "$prefix/bin/tcsim" list machines | grep >/dev/null '^only-here ' ||
  fail "TCSIM_DATA_DIR is not followed"
