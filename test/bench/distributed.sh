#!/usr/bin/env bash
# Private aggregates over shards beside avg(x) of the same distributed table: three servers with Citus on this machine. Part of make
# bench where Citus is installed. Query times need an idle machine.
#   DISTRIBUTED_ROWS  rows of the table (default 10 million)
#   ROUNDS            rounds, of which the figures are the median (default 9)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh
# shellcheck source=scripts/cluster.sh
source scripts/cluster.sh

DISTRIBUTED_ROWS=${DISTRIBUTED_ROWS:-10000000}
ROUNDS=${ROUNDS:-9}
servers=("$work/cluster" "$work/worker-1" "$work/worker-2")

if [[ ! -e $("$PG_CONFIG" --pkglibdir)/citus.so ]]; then
  echo "Many servers: not run, there is no Citus for this PostgreSQL"
  exit
fi

finish_all() {
  local server
  for server in "${servers[@]}"; do cluster_remove "$server" >/dev/null 2>&1 || true; done
  finish
}
trap finish_all EXIT

on() { cluster_psql "$1" -U "${2:-postgres}" -d postgres -X -q -A -t -v ON_ERROR_STOP=1; }

# $1: directory of a server
start_distributed() {
  cluster_start "$1" >/dev/null
  on "$1" <<SQL
ALTER SYSTEM SET shared_preload_libraries = 'citus', 'dpquantile';
ALTER SYSTEM SET wal_level = logical;
ALTER SYSTEM SET max_wal_size = '4GB';
SQL
  cluster_stop "$1"
  cluster_start "$1" >/dev/null
  on "$1" <<SQL >/dev/null
CREATE EXTENSION citus;
ALTER SYSTEM SET citus.local_hostname = '$(cluster_socket "$1")';
SELECT pg_reload_conf();
SQL
}

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# $1: title, $2: query, $3: the query that it is compared with. They take turns in one session.
compare() {
  local round
  {
    printf '\\timing on\n\\o /dev/null\n'
    for ((round = 0; round <= ROUNDS; round++)); do printf '%s;\n%s;\n' "$2" "$3"; done
  } | on "${servers[0]}" analyst | awk '/^Time: / && ++number > 2 { print $2 }' >"$work/times" # the first round warms up
  awk -v title="$1" -v private="$(awk 'NR % 2' "$work/times" | median)" -v exact="$(awk 'NR % 2 == 0' "$work/times" | median)" 'BEGIN {
    printf "  %-40s %10.0f %10.0f %8.2f\n", title, private, exact, private / exact }'
}

# shellcheck disable=SC2119 # no programs
build
for server in "${servers[@]}"; do start_distributed "$server"; done
on "${servers[0]}" <<SQL >/dev/null
SELECT citus_set_coordinator_host('$(cluster_socket "${servers[0]}")', 5432);
SELECT citus_add_node('$(cluster_socket "${servers[1]}")', 5432);
SELECT citus_add_node('$(cluster_socket "${servers[2]}")', 5432);
CREATE EXTENSION dpquantile;
CREATE ROLE analyst LOGIN;
SELECT dp_grant_budget('analyst', 1e6);
SET citus.shard_count = 32;
CREATE TABLE bench (k bigint, g int, x float8);
SELECT create_distributed_table('bench', 'k');
INSERT INTO bench SELECT i, i % 20, random() * 1000 FROM generate_series(1, $DISTRIBUTED_ROWS) i;
VACUUM (ANALYZE) bench;
GRANT SELECT ON bench TO analyst;
SQL

echo "Many servers: $DISTRIBUTED_ROWS rows in 32 shards of two workers, one coordinator, $(nproc) processors, median of $ROUNDS"
printf '  %-40s %10s %10s %8s\n' '' 'private ms' 'avg(x) ms' ratio
average='SELECT avg(x) FROM bench'
quantiles='dp_quantiles(x, ARRAY[0.1, 0.5, 0.9], 1, 0, 1000)'
compare 'dp_quantiles of 3' "SELECT $quantiles FROM bench" "$average"
compare 'dp_median' 'SELECT dp_median(x, 1, 0, 1000) FROM bench' "$average"
compare 'dp_cdf' 'SELECT dp_cdf(x, 1, 0, 1000) FROM bench' "$average"
compare 'dp_avg' 'SELECT dp_avg(x, 1, 0, 1000) FROM bench' "$average"
compare 'dp_count' 'SELECT dp_count(1) FROM bench' "$average"
compare 'dp_quantiles of 3, 20 groups' "SELECT g, $quantiles FROM bench GROUP BY g" 'SELECT g, avg(x) FROM bench GROUP BY g'
compare 'dp_median of one shard' 'SELECT dp_median(x, 1, 0, 1000) FROM bench WHERE k = 7' 'SELECT avg(x) FROM bench WHERE k = 7'
