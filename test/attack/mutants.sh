#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the fault of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows
# what the attack finds. `make attack-mutants` calls it. Fails if a mutant is not found. SECONDS_IN_ALL, by default 60, and SEED: of each
# attack.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
copy=$tree/.build/attack-mutant
mapfile -t names < <(mutant_names "$@")
found=0
for name in "${names[@]}"; do
  plant "$name" "$copy"
  log=$copy/log
  make -s -C "$copy" -j"$(nproc)" all >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
  result='NOT FOUND'
  if ! SECONDS_IN_ALL=${SECONDS_IN_ALL:-60} "$here/run.sh" attack "$copy/dpquantile.so" >"$log" 2>&1; then
    result=$(grep -m 1 -oE '^FOUND: .*|.*terminated by signal.*' "$log" || true)
    if [[ -z $result ]]; then tail -n 20 "$log" >&2 && exit 1; fi
    found=$((found + 1))
  fi
  printf '%-22s %s\n' "$name" "${result:0:180}"
done
rm -rf "$copy"
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
