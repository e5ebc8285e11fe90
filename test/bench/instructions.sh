#!/usr/bin/env bash
# Instructions of the transition function for a row, which callgrind counts in a server. Times differ from run to run,
# instructions do not.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/cluster.sh
source scripts/cluster.sh

work=$(mktemp -d /tmp/dpquantile-bench-XXXXXX)
chmod 755 "$work"
trap 'cluster_remove "$work/cluster" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

cluster_start "$work/cluster" >/dev/null
cluster_psql "$work/cluster" -U postgres -d postgres -X -q -c 'CREATE EXTENSION dpquantile' \
  -c "SELECT dp_grant_budget('postgres', 100)" >/dev/null
cluster_stop "$work/cluster"
socket=$work/cluster/counted
as_owner mkdir "$socket"

counted_server() {
  as_owner valgrind --tool=callgrind --callgrind-out-file="$socket/callgrind.%p" --toggle-collect="$1" \
    "$(bin postgres)" -D "$work/cluster/data" -c unix_socket_directories="$socket" >"$work/log" 2>&1
}

# $1: rows, $2: the aggregate of x, $3: its transition function
instructions() {
  as_owner rm -f "$socket"/callgrind.*
  counted_server "$3" &
  until as_owner "$(bin pg_isready)" -q -h "$socket" -p 5432; do
    kill -0 $! 2>/dev/null || die "The server ended: $(<"$work/log")"
    sleep 0.5
  done
  as_owner env PGOPTIONS='-c jit=off -c max_parallel_workers_per_gather=0' "$(bin psql)" -h "$socket" -p 5432 -U postgres \
    -d postgres -X -q -v ON_ERROR_STOP=1 -o /dev/null \
    -c "SELECT $2 FROM (SELECT i * 0.001::float8 AS x FROM generate_series(1, $1) i) s"
  cluster_stop "$work/cluster"
  wait
  cat "$socket"/callgrind.* | awk '/^totals: / { sum += $2 } END { print sum }'
}

# $1: name, $2: the aggregate, $3: its transition function
line() {
  local less more
  less=$(instructions 1500000 "$2" "$3")
  more=$(instructions 2500000 "$2" "$3")
  awk -v name="$1" -v less="$less" -v more="$more" \
    'BEGIN { printf "  %-34s %6.1f\n", name, (more - less) / 1000000 }'
}

echo 'Instructions of the transition function for a row (callgrind)'
line 'avg' 'avg(x)' float8_accum
line 'dp_quantiles' "dp_quantiles(x, array[0.5], 1, 0, 1000)" dpq_quantiles_transition
line 'dp_quantiles on 2^32 cells' \
  "dp_quantiles(x, array[0.5], 1, 0, 1000, dp_options(granularity => 1000 / 4294967295.0::float8))" \
  dpq_quantiles_transition
line 'dp_cdf' 'dp_cdf(x, 1, 0, 1000)' dpq_cdf_transition
