#!/usr/bin/env bash
# Processor time and memory of a GROUP BY, beside avg(x) in the same turn, by the number of groups, their keys, work_mem and parallel workers. Part of make bench.
#   GROUP_ROWS     rows of each table (default 5 million)
#   GROUP_ROUNDS   turns of all queries, of which the table shows the median (default 3)
#   GROUP_NUMBERS  numbers of groups (default 20 1000 100000 1000000)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh

GROUP_ROWS=${GROUP_ROWS:-5000000}
GROUP_ROUNDS=${GROUP_ROUNDS:-3}
GROUP_NUMBERS=${GROUP_NUMBERS:-20 1000 100000 1000000}

# Milliseconds of all processes of the server that have ended: a session and its workers.
ended_milliseconds() {
  local server
  # shellcheck disable=SC2154 # server.sh sets it
  read -r server <"$work/cluster/data/postmaster.pid"
  awk -v ticks="$(getconf CLK_TCK)" '{ print 1000 * ($16 + $17) / ticks }' "/proc/$server/stat"
}

# Prints the milliseconds of processor time of a session and the megabytes that the query adds to its memory. $1: work_mem in MB, $2: hash_mem_multiplier, $3: parallel workers, $4: aggregate, $5: keys.
group_figures() {
  local before peaks
  before=$(ended_milliseconds)
  peaks=$(query -A -t -F ' ' -v statement="SELECT count(a) FROM (SELECT $4 AS a FROM by_groups GROUP BY $5) s" -v memory="$1MB" -v multiplier="$2" -v workers="$3" <<'SQL'
SET jit = off;
SET work_mem = :'memory';
SET hash_mem_multiplier = :multiplier;
SELECT dp_median(x, 1, 0, 1) FROM (VALUES (0.5::float8)) v(x) \g /dev/null
SET max_parallel_workers_per_gather = :workers;
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)');
:statement \g /dev/null
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)');
SQL
)
  sleep 0.1 # until the server has noticed the end
  # shellcheck disable=SC2086 # two numbers
  set -- $peaks "$before" "$(ended_milliseconds)"
  awk -v peak="$1" -v peak_after="$2" -v before="$3" -v after="$4" 'BEGIN { print after - before, (peak_after - peak) / 1024 }'
}

# A line of the table. $1: groups, then as for group_figures: work_mem, multiplier, workers, keys.
group_line() {
  local round aggregate
  local aggregates=('avg(x)' 'dp_count(1)' 'dp_avg(x, 1, 0, 1000)' 'dp_median(x, 1, 0, 1000)'
    "dp_quantiles(x, array[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9], 1, 0, 1000)")
  for ((round = 0; round < GROUP_ROUNDS; round++)); do
    for aggregate in "${!aggregates[@]}"; do
      echo "$aggregate $(group_figures "$2" "$3" "$4" "${aggregates[aggregate]}" "$5")"
    done
  done | sort -k1,1n -k2,2n | awk -v groups="$1" -v memory="$2" -v multiplier="$3" -v workers="$4" -v keys="$5" '
    { time[$1, ++count[$1]] = $2; if ($3 > peak[$1]) peak[$1] = $3 }
    function megabytes(i) { return sprintf("%.0f%s", peak[i], peak[i] > 1.1 * memory * multiplier + 1 ? "!" : "") }
    END {
      for (i = 0; i in count; i++) median[i] = time[i, int((count[i] + 1) / 2)]
      printf "  %-8d %-5s %6d MB x %d %7d %8.0f %5s", groups, keys, memory, multiplier, workers, median[0], megabytes(0)
      for (i = 1; i in count; i++) printf " %6.2f %5s", median[i] / median[0], megabytes(i)
      print ""
    }'
}

# shellcheck disable=SC2119 # no programs
build
start_server
preload_library
query <<SQL
CREATE EXTENSION dpquantile;
SELECT dp_grant_budget('postgres', 1000000, 0.9, smallest_charge => 1e-6) \g /dev/null
SQL
echo "Groups of $GROUP_ROWS rows, JIT off, median of $GROUP_ROUNDS turns: milliseconds of processor time, workers included, as ratios to avg(x);"
echo 'MB is the most that a query adds to the address space of its session (VmPeak), in any turn: with ! if it is more than work_mem times hash_mem_multiplier, a tenth, and a megabyte for plan and catalogs'
printf '  %-8s %-5s %13s %7s %8s %5s %12s %12s %12s %12s\n' groups keys work_mem workers 'avg(x)' MB 'dp_count' 'dp_avg' 'dp_median' '9 quantiles'
for number in $GROUP_NUMBERS; do
  query <<SQL
CREATE UNLOGGED TABLE by_groups WITH (autovacuum_enabled = off) AS
  SELECT random() * 1000 AS x, g AS i, 'key ' || g AS t, g / 10 AS a, g % 10 AS b
    FROM (SELECT (hashint8(i) & 2147483647) % $number AS g FROM generate_series(1, $GROUP_ROWS) i) s;
VACUUM (ANALYZE, FREEZE) by_groups;
CHECKPOINT;
SQL
  sleep 1 # that session has ended, too
  group_line "$number" 64 2 0 i
  group_line "$number" 64 2 0 t
  group_line "$number" 64 2 0 'a, b'
  group_line "$number" 4 2 0 i
  group_line "$number" 256 2 0 i
  group_line "$number" 4 1 0 i
  group_line "$number" 64 2 2 i
  query -c 'DROP TABLE by_groups'
done
