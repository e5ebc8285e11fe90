#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the fault of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows
# which checks refute it. `make exhaustive-mutants` calls it. Fails if one is not found.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/exhaustive-mutant
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
mapfile -t names < <(mutant_names "$@")
found=0
for name in "${names[@]}"; do
  plant "$name" "$copy" exhaustive
  log=$copy/.build/log
  make -s -C "$copy" -j"$(nproc)" .build/exhaustive/run >"$log" 2>&1 || { tail -n 20 "$log" >&2 && exit 1; }
  if "$copy/.build/exhaustive/run" >"$log" 2>&1; then
    echo "$name: NOT FOUND"
  else
    grep -q ' passed, ' "$log" || { tail -n 20 "$log" >&2 && exit 1; }
    echo "$name: $(head -n 1 "$here/mutants/$name.patch")"
    grep REFUTED "$log"
    found=$((found + 1))
  fi
done
rm -rf "$copy"
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
