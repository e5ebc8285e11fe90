#!/usr/bin/env bash
# The cost of a charge, with the library preloaded and without. Part of make bench. A committed UPDATE of one row shows
# what the disk's flush costs on this machine.
#   CHARGE_SECONDS  seconds for each figure (default 10)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh

CHARGE_SECONDS=${CHARGE_SECONDS:-10}
PG_CONFIG=$(scripts/pg-config.sh)
charge='SELECT dp_median(x, 1e-6, 0, 1) FROM (VALUES (0.5::float8)) v(x);'
update='UPDATE plain SET n = n + 1;'

# The milliseconds of each transaction of $2 clients that send statement $1; $3...: options of pgbench.
transactions() {
  local socket
  socket=$(readlink -f "$work/cluster/socket")
  rm -f "$work"/times*
  echo "$1" >"$work/statement.sql"
  "$("$PG_CONFIG" --bindir)/pgbench" -h "$socket" -p 5432 -U postgres -n -f "$work/statement.sql" -c "$2" \
    -T "$CHARGE_SECONDS" -l --log-prefix="$work/times" "${@:3}" postgres >/dev/null 2>&1
  awk '{ print $3 / 1000 }' "$work"/times*
}

# Prints percentile $1 of the input's lines.
percentile() { sort -g | awk -v p="$1" '{ value[NR] = $1 } END { k = int(NR * p / 100); print value[k < 1 ? 1 : k] }'; }

# Prints a row. $1: its title, $2: the statement, $3...: options of pgbench. Medians are compared with that of the UPDATE on
# the same server.
measure() {
  local median high rate
  transactions "$2" 1 "${@:3}" >"$work/one"
  median=$(percentile 50 <"$work/one")
  high=$(percentile 99 <"$work/one")
  rate=$(($(transactions "$2" 8 "${@:3}" | wc -l) / CHARGE_SECONDS))
  [[ $2 == "$update" ]] && update_median=$median
  awk -v title="$1" -v median="$median" -v high="$high" -v update="$update_median" -v rate="$rate" 'BEGIN {
    printf "  %-24s %10.2f %10.2f %18.1f %22d\n", title, median, high, median / update, rate }'
}

# shellcheck disable=SC2119 # no programs
build
start_server
query <<SQL
CREATE EXTENSION dpquantile;
SELECT dp_grant_budget('postgres', 1000000, smallest_charge => 1e-6) \g /dev/null
CREATE TABLE plain AS SELECT 1 AS n;
SQL
echo "Charges: ms of one client, a second with 8 clients; $CHARGE_SECONDS s each"
printf '  %-24s %10s %10s %18s %22s\n' '' 'median ms' '99 % ms' 'against UPDATE' '8 clients, a second'
measure 'UPDATE of one row' "$update"
measure 'charge' "$charge"
measure 'the first of a session' "$charge" --connect
preload_library
measure 'UPDATE, preloaded' "$update"
measure 'charge, preloaded' "$charge"
measure 'the first, preloaded' "$charge" --connect
