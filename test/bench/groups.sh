# shellcheck shell=bash
# run.sh sources this: processor time and memory of a GROUP BY, beside avg(x) in the same turn, by the number of groups, their keys, work_mem and parallel workers.

GROUP_ROUNDS=${GROUP_ROUNDS:-3}

# Milliseconds of all processes of the server that have ended: a session and its workers.
ended_milliseconds() {
  local server
  # shellcheck disable=SC2154 # server.sh sets it
  read -r server <"$work/cluster/data/postmaster.pid"
  awk -v ticks="$(getconf CLK_TCK)" '{ print 1000 * ($16 + $17) / ticks }' "/proc/$server/stat"
}

# Prints the milliseconds of processor time of a session and the megabytes that the query adds to its memory. $1: work_mem in MB, $2: parallel workers, $3: aggregate, $4: keys.
group_figures() {
  local before peaks
  before=$(ended_milliseconds)
  peaks=$(query -A -t -F ' ' -v statement="SELECT count(a) FROM (SELECT $3 AS a FROM by_groups GROUP BY $4) s" -v memory="$1MB" -v workers="$2" <<'SQL'
SET jit = off;
SET work_mem = :'memory';
SELECT dp_median(x, 1, 0, 1) FROM (VALUES (0.5::float8)) v(x) \g /dev/null
SET max_parallel_workers_per_gather = :workers;
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)');
:statement \g /dev/null
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)');
SQL
)
  sleep 0.2 # until the server has noticed the end
  # shellcheck disable=SC2086 # two numbers
  set -- $peaks "$before" "$(ended_milliseconds)"
  awk -v peak="$1" -v peak_after="$2" -v before="$3" -v after="$4" 'BEGIN { print after - before, (peak_after - peak) / 1024 }'
}

# A line of the table. $1: groups, $2: work_mem in MB, $3: parallel workers, $4: keys.
group_line() {
  local round aggregate
  local aggregates=('avg(x)' 'dp_count(1)' 'dp_avg(x, 1, 0, 1000)' 'dp_median(x, 1, 0, 1000)'
    "dp_quantiles(x, array[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9], 1, 0, 1000)")
  for ((round = 0; round < GROUP_ROUNDS; round++)); do
    for aggregate in "${!aggregates[@]}"; do
      echo "$aggregate $(group_figures "$2" "$3" "${aggregates[aggregate]}" "$4")"
    done
  done | sort -k1,1n -k2,2n | awk -v groups="$1" -v memory="$2" -v workers="$3" -v keys="$4" '
    { time[$1, ++count[$1]] = $2; if ($3 > peak[$1]) peak[$1] = $3 }
    END {
      for (i = 0; i in count; i++) median[i] = time[i, int((count[i] + 1) / 2)]
      printf "  %-8d %-5s %4d MB %7d %8.0f %5.0f", groups, keys, memory, workers, median[0], peak[0]
      for (i = 1; i in count; i++) printf " %6.2f %5.0f", median[i] / median[0], peak[i]
      print ""
    }'
}

group_table() {
  local number memory keys
  echo "Groups of $ROWS rows, JIT off, median of $GROUP_ROUNDS turns: milliseconds of processor time, workers included, as ratios to avg(x);"
  echo "MB is the most that a query adds to its session, of which work_mem times hash_mem_multiplier, $(query -A -t -c 'SHOW hash_mem_multiplier'), is the room for rows or states"
  printf '  %-8s %-5s %7s %7s %8s %5s %12s %12s %12s %12s\n' groups keys work_mem workers 'avg(x)' MB 'dp_count' 'dp_avg' 'dp_median' '9 quantiles'
  for number in 20 1000 100000 1000000; do
    query <<SQL
CREATE TABLE by_groups WITH (autovacuum_enabled = off) AS
  SELECT random() * 1000 AS x, g AS i, 'key ' || g AS t, g / 10 AS a, g % 10 AS b
    FROM (SELECT (hashint8(i) & 2147483647) % $number AS g FROM generate_series(1, $ROWS) i) s;
VACUUM (ANALYZE, FREEZE) by_groups;
CHECKPOINT;
SQL
    sleep 1 # that session has ended, too
    for memory in 4 64 256; do
      for keys in i t 'a, b'; do group_line "$number" "$memory" 0 "$keys"; done
    done
    group_line "$number" 64 2 i
    query -c 'DROP TABLE by_groups'
  done
}
