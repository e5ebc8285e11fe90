#!/usr/bin/env bash
# run.sh: builds the fuzzer's library and runs the fuzzer on a throwaway cluster. `make neighbours` calls it.
# QUERIES: how many; SEED: of the grammar and the data; WORKERS: sessions, each with two databases of its own; MOST_DIFFERENCES: the
# number of differences after which all stop; SMALL_EACH: 1 for queries over trees of FROM alone; SHOW: prints the queries that are refused
# with this text, or SHOW="accepted SHAPE" those of a shape that are accepted; LIBRARY: another library, of a mutant.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
library=${LIBRARY:-$tree/.build/neighbours/dpquantile.so}
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-neighbours-XXXXXX")
chmod 755 "$work"
cleanup() {
  cluster_remove "$work/cluster"
  rm -rf "$work" ${TAPES:+"$TAPES"}
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

PG_CONFIG=$("$tree/scripts/private-server.sh" "$work/server" "$library")
cluster_start "$work/cluster"
psql=(cluster_psql "$work/cluster" -X -q -U postgres)
"${psql[@]}" -d postgres -c "ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'" -c 'ALTER SYSTEM SET fsync = off' \
  -c 'ALTER SYSTEM SET full_page_writes = off' -c 'ALTER SYSTEM SET autovacuum = off' -c 'ALTER SYSTEM SET jit = off' \
  -c 'CREATE DATABASE fuzz_template'
cluster_stop "$work/cluster"
cluster_start "$work/cluster"
"${psql[@]}" -d fuzz_template -f "$here/schema.sql"
"${psql[@]}" -d fuzz_template -f "$here/protect.sql"
# The server writes the tapes, two a query: in memory, where the system has a directory for it.
TAPES=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "$work")" dpquantile-tapes-XXXXXX)
chmod 777 "$TAPES"
export PGHOST PGPORT=5432 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tree/test/support TAPES
PGHOST=$(cluster_socket "$work/cluster")
/usr/bin/python3 "$here/ask.py" "${QUERIES:-80000}" "${SEED:-1}" "${WORKERS:-2}" "${MOST_DIFFERENCES:-3}"
