#!/usr/bin/env bash
# mutants.sh [NAME...]: plants the fault of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and shows
# the sanitizers' report. `make sanitize-mutants` calls it. Fails if a mutant has none. A patch names the SQL tests that reach its
# fault.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
copy=$tree/.build/sanitize-mutant
library=.build/sanitize/dpquantile.so

mapfile -t names < <(mutant_names "$@")
found=0
for name in "${names[@]}"; do
  plant "$name" "$copy" sanitize
  log=$copy/log
  make -s -C "$copy" -j"$(nproc)" "$library" >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
  REGRESS=$(sed -n 's/^Test: //p' "$here/mutants/$name.patch") ISOLATION='' TAP='' "$here/run.sh" sanitizers "$copy/$library" >"$log" 2>&1 || true
  result=$(grep -m 1 -oE 'AddressSanitizer: [a-z-]+.*|runtime error: .*' "$log" || echo 'NOT FOUND')
  if [[ $result != 'NOT FOUND' ]]; then found=$((found + 1)); fi
  grep -q ' passed, ' "$log" || { tail -n 20 "$log" >&2 && exit 1; }
  printf '%-16s %s\n' "$name" "$result"
done
rm -rf "$copy"
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
