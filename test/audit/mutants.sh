#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the fault of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows
# what the audit refutes. `make audit-mutants` calls it. Fails if the audit refutes nothing. A patch names the cases that are asked
# through SQL, or the checks of test/adversary.
# SECONDS_IN_ALL: of each run.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/audit-mutant
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
mapfile -t names < <(mutant_names "$@")
found=0
for name in "${names[@]}"; do
  plant "$name" "$copy" test
  log=$copy/.build/log
  cases=$(sed -n 's/^CASES: //p' "$here/mutants/$name.patch")
  checks=$(sed -n 's/^CHECKS: //p' "$here/mutants/$name.patch")
  built=dpquantile.so
  if [[ $checks ]]; then built=.build/adversary; fi
  make -s -C "$copy" -j"$(nproc)" "$built" >"$log" 2>&1 || { tail -n 20 "$log" >&2 && exit 1; }
  if CASES=$cases CHECKS=$checks SECONDS_IN_ALL=${SECONDS_IN_ALL:-60} \
    "$here/run.sh" "$copy/dpquantile.so" "$copy/.build/adversary" >"$log" 2>&1; then
    echo "$name: NOT FOUND"
  else
    grep -q 'passed, ' "$log" || { tail -n 20 "$log" >&2 && exit 1; }
    echo "$name: $(head -n 1 "$here/mutants/$name.patch")"
    grep REFUTED "$log"
    found=$((found + 1))
  fi
done
rm -rf "$copy"
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
