#!/usr/bin/env bash
# run.sh NAME [LIBRARY]: starts a throwaway cluster with a private copy of the server and runs test/NAME/NAME.py. `make
# attack` and `make audit` call it. The last line is "N passed, N failed".
# SECONDS_IN_ALL: how long, by default 300; CALLS: of the session of make attack that must not grow, by default 10 a second; SEED;
# PRELOADED: 1 preloads the library, by default 1.
set -euo pipefail

name=$1
library=$(realpath "${2:-dpquantile.so}")
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-$name-XXXXXX")
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
psql=(cluster_psql "$work/cluster" -X -q -U postgres -v ON_ERROR_STOP=1 -d postgres)
"${psql[@]}" -c 'ALTER SYSTEM SET fsync = off' -c 'ALTER SYSTEM SET jit = off' -c 'ALTER SYSTEM SET max_worker_processes = 16' \
  -c 'ALTER SYSTEM SET max_connections = 60'
if [[ ${PRELOADED:-1} == 1 ]]; then "${psql[@]}" -c "ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'"; fi
cluster_stop "$work/cluster"
cluster_start "$work/cluster"
export PGHOST PGPORT=5432 PGUSER=postgres PGDATABASE=postgres PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tree/test/support
PGHOST=$(cluster_socket "$work/cluster")
seconds=${SECONDS_IN_ALL:-300}
status=0
/usr/bin/python3 "$tree/test/$name/$name.py" "$seconds" "${SEED:-1}" "${CALLS:-$((seconds * 10 > 600 ? seconds * 10 : 600))}" ||
  status=$?
if grep -E 'PANIC|terminated by signal|TRAP:|XX000' "$work/cluster/log"; then
  tail -n 40 "$work/cluster/log"
  echo "The server's log has a crash."
  status=1
fi
exit "$status"
