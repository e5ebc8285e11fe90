#!/usr/bin/env bash
# run.sh LIBRARY FAULTS: runs test/chaos/chaos.py on throwaway clusters of a private copy of the server, with LIBRARY as its dpquantile
# and FAULTS preloaded. `make chaos` calls it. The last line is "N passed, N failed".
# SECONDS_IN_ALL: how long, by default 300; SEED; EPISODES: only these.
set -euo pipefail

library=$(realpath "$1")
faults=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-chaos-XXXXXX")
chmod 755 "$work"
cleanup() {
  end_servers_in "$work" || true
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

PG_CONFIG=$("$tree/scripts/private-server.sh" "$work/server" "$library")
# The owner may have no access to the tree.
mkdir "$work/test" "$work/servers"
cp "$here"/*.{py,sql} "$faults" "$work/test/"
if ((EUID == 0)); then chown "$owner:" "$work/servers"; fi
as_owner env PYTHONDONTWRITEBYTECODE=1 EPISODES="${EPISODES:-}" /usr/bin/python3 "$work/test/chaos.py" "${SECONDS_IN_ALL:-300}" "${SEED:-1}" \
  "$work/servers" "$("$PG_CONFIG" --bindir)" "$work/test/$(basename "$faults")"
