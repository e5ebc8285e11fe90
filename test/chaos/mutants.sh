#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the fault of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows in
# which episode it is found. `make chaos-mutants` calls it. Fails if a mutant is not found. SECONDS_IN_ALL: of each run at most, by
# default 300; SEED.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/chaos-mutant
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
mapfile -t names < <(mutant_names "$@")
found=0
for name in "${names[@]}"; do
  plant "$name" "$copy" chaos
  log=$copy/.build/log
  if make -s -C "$copy" chaos >"$log" 2>&1; then
    result='NOT FOUND'
  else
    result=$(sed -n 's/^in episode \([0-9]*\), /after \1 episodes: /p' "$log")
    if [[ -z $result ]]; then tail -n 20 "$log" >&2 && exit 1; fi
    found=$((found + 1))
  fi
  printf '%-24s %s\n' "$name" "$result"
  sed -n 's/^FOUND: /    /p' "$log" | head -n 1 | cut -c 1-200
done
rm -rf "$copy"
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
