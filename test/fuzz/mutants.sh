#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the fault of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows
# which target finds it. `make fuzz-mutants` calls it. Fails if a mutant is not found. SECONDS_IN_ALL: of each run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/fuzz-mutant
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
mapfile -t names < <(mutant_names "$@")
found=0
for name in "${names[@]}"; do
  plant "$name" "$copy" fuzz
  log=$copy/.build/log
  if make -s -C "$copy" SECONDS_IN_ALL="${SECONDS_IN_ALL:-60}" fuzz >"$log" 2>&1; then
    result='NOT FOUND'
  else
    grep -q 'passed, ' "$log" || { tail -n 20 "$log" >&2 && exit 1; }
    result="by $(sed -n 's/^--- //p' "$log" | tr '\n' ' ')"
    found=$((found + 1))
  fi
  printf '%-22s %s\n' "$name" "$result"
done
rm -rf "$copy"
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
