#!/usr/bin/env bash
# Instructions of the transition function for a row. callgrind counts them in a single-user server,
# which has no worker that could charge, so it refuses the query after reading its rows. Times differ
# from run to run, instructions do not.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/cluster.sh
source scripts/cluster.sh

work=$(mktemp -d /tmp/dpquantile-bench-XXXXXX)
chmod 755 "$work"
trap 'cluster_remove "$work/cluster" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

cluster_start "$work/cluster" >/dev/null
cluster_psql "$work/cluster" -U postgres -d postgres -X -q -c 'CREATE EXTENSION dpquantile'
cluster_stop "$work/cluster"

# $1: rows, $2: the aggregate of x, $3: its transition function
instructions() {
  local output=$work/cluster/callgrind.out
  as_owner valgrind --tool=callgrind --callgrind-out-file="$output" --toggle-collect="$3" \
    "$(bin postgres)" --single -D "$work/cluster/data" -c jit=off postgres \
    <<<"SELECT $2 FROM (SELECT i * 0.001::float8 AS x FROM generate_series(1, $1) i) s" >/dev/null 2>&1 || true
  awk '/^(summary|totals): / { print $2; exit }' "$output"
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
