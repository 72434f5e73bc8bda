#!/usr/bin/env bash
# try_example.sh CMAKE BUILD PAGE COMPILER SANITIZERS: installs BUILD into a new folder, builds the
# program that the manual's PAGE shows with nothing but what is there, and runs it.
set -euo pipefail
cmake=$1 build=$2 page=$3 compiler=$4 sanitizers=$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$page" | sed '1d;$d'; }
block cmake >"$folder/CMakeLists.txt"
block cpp >"$folder/example.cpp"
"$cmake" --install "$build" --prefix "$folder/installed" >/dev/null
"$cmake" -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/installed" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
  ${sanitizers:+-DCMAKE_CXX_FLAGS=-fsanitize=$sanitizers} >/dev/null
"$cmake" --build "$folder/build"
"$folder/build/example"
