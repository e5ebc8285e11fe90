#!/usr/bin/env bash
# mutants.sh [NAME...]: switches off the rules of mutants/NAME.patch, all by default, one at a time in a copy of the sources,
# and shows how many queries the fuzzer needs until it finds a difference. `make neighbours-mutants` calls it. Fails if a mutant is not
# found. QUERIES, SEED: of each run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/neighbours/mutant
logs=$tree/.build/neighbours/logs
library=.build/neighbours/dpquantile.so
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
mapfile -t names < <(mutant_names "$@")

# Builds the library of a mutant, from the objects of the tree as far as they do not change.
build() {
  plant "$1" "$copy"
  mkdir -p "$copy/.build/neighbours"
  cp -a "$tree"/.build/neighbours/*.[od] "$copy/.build/neighbours/"
  make -s -C "$copy" -j"$(nproc)" "$library"
}

mkdir -p "$logs"
found=0
for name in "${names[@]}"; do
  build "$name" >"$logs/$name" 2>&1 || { cat "$logs/$name" >&2 && exit 1; }
  result='NOT FOUND'
  if ! LIBRARY=$copy/$library QUERIES=${QUERIES:-8000} MOST_DIFFERENCES=1 "$here/run.sh" >"$logs/$name" 2>&1; then
    result=$(sed -n 's/^Stopped after/after/p' "$logs/$name")
    if [[ -z $result ]]; then tail -n 20 "$logs/$name" >&2 && exit 1; fi
    found=$((found + 1))
  fi
  printf '%-26s %-22s %s\n' "$name" "$result" "$(sed -n 's/^DIFFERENCE of //p' "$logs/$name" | head -n 1)"
  sed -n 's/^smaller: /    /p' "$logs/$name" | head -n 1 | cut -c 1-220
done
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
