#!/usr/bin/env bash
# mutants.sh [NAME...]: switches off the rule of mutants/NAME.patch, all by default, one at a time in a copy of the sources, and runs
# the SQL test that the second line of the patch names. `make refusals-mutants` calls it. Fails if a test passes without its rule.
# These are rules whose breach no query of one role shows: test/neighbours cannot find them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
copy=$tree/.build/refusals-mutant
# shellcheck source=scripts/mutants.sh
source "$tree/scripts/mutants.sh"
# shellcheck source=scripts/cluster.sh
source "$tree/scripts/cluster.sh"
mapfile -t names < <(mutant_names "$@")

work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-refusals-XXXXXX")
chmod 755 "$work"
trap 'cluster_remove "$work/cluster"; rm -rf "$work" "$copy"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

found=0
for name in "${names[@]}"; do
  test=$(sed -n '2s/^TEST: //p' "$here/mutants/$name.patch")
  plant "$name" "$copy"
  log=$copy/log
  make -s -C "$copy" with_llvm=no -j"$(nproc)" all >"$log" 2>&1 || { cat "$log" >&2 && exit 1; }
  PG_CONFIG=$("$tree/scripts/private-server.sh" "$work/server" "$copy/dpquantile.so")
  export PG_CONFIG
  cluster_start "$work/cluster"
  result='NOT FOUND'
  if ! PGHOST=$(cluster_socket "$work/cluster") PGPORT=5432 PGUSER=postgres "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress" \
    --inputdir="$tree" --outputdir="$copy" --bindir="$("$PG_CONFIG" --bindir)" --load-extension=dpquantile "$test" >"$log" 2>&1; then
    if [[ ! -s $copy/regression.diffs ]]; then tail -n 20 "$log" >&2 && exit 1; fi
    result="$(grep -c '^[+-]' "$copy/regression.diffs") lines of $test differ"
    found=$((found + 1))
  fi
  cluster_remove "$work/cluster"
  rm -rf "$work/server"
  unset PG_CONFIG
  printf '%-28s %s\n' "$name" "$result"
done
echo "$found of ${#names[@]} mutants found"
((found == ${#names[@]}))
