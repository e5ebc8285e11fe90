#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the faults of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows what
# the message attacker finds. `make messages-mutants` calls it. Fails if a mutant is not found.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/messages/mutant
logs=$tree/.build/messages/logs
library=.build/messages/dpquantile.so
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
mapfile -t names < <(mutant_names "$@")

# Builds the library of a mutant, from the objects of the tree as far as they do not change.
build() {
  plant "$1" "$copy"
  mkdir -p "$copy/.build/messages"
  cp -a "$tree"/.build/messages/*.[od] "$copy/.build/messages/"
  make -s -C "$copy" -j"$(nproc)" "$library"
}

mkdir -p "$logs"
found=0
for name in "${names[@]}"; do
  build "$name" >"$logs/$name" 2>&1 || { cat "$logs/$name" >&2 && exit 1; }
  result='NOT FOUND'
  if ! LIBRARY=$copy/$library "$here/run.sh" >"$logs/$name" 2>&1; then
    result=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$logs/$name") || { tail -n 20 "$logs/$name" >&2 && exit 1; }
    found=$((found + 1))
  fi
  printf '%-26s %s\n' "$name" "$result"
  grep -m 1 '^not ok: ' "$logs/$name" | cut -c 1-160 || true
done
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
