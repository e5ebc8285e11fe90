#!/usr/bin/env bash
# run.sh: runs the message attacker on a throwaway cluster with a private copy of the server. `make messages` calls it. The last
# line is "N passed, N failed".
# EFFORT: 1 by default, what make test does; 2 is each fault in each function. LIBRARY: another library, of a mutant.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
library=${LIBRARY:-$tree/.build/messages/dpquantile.so}
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-messages-XXXXXX")
chmod 755 "$work"
cleanup() {
  cluster_remove "$work/cluster"
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

PG_CONFIG=$("$tree/scripts/private-server.sh" "$work/server" "$library")
cluster_start "$work/cluster"
psql=(cluster_psql "$work/cluster" -X -q -U postgres -d postgres -v ON_ERROR_STOP=1)
"${psql[@]}" -c "ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'" -c 'ALTER SYSTEM SET fsync = off' \
  -c 'ALTER SYSTEM SET autovacuum = off' -c 'ALTER SYSTEM SET jit = off'
cluster_stop "$work/cluster"
cluster_start "$work/cluster"
"${psql[@]}" -f "$tree/test/total/samples.sql" -f "$here/schema.sql" >/dev/null
export PGHOST PGPORT=5432 PGDATABASE=postgres PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tree/test/support SERVER_LOG=$work/cluster/log
PGHOST=$(cluster_socket "$work/cluster")
/usr/bin/python3 "$here/messages.py" "${EFFORT:-1}"
