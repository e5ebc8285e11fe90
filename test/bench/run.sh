#!/usr/bin/env bash
# make bench: speed beside PostgreSQL's own aggregates and tdigest, and accuracy beside the reference.
#   ROWS       rows of the timed table (default 10 million)
#   ROUNDS     timed rounds, the median counts (default 5)
#   BENCH_DATA directory with adult_age.csv, adult_hours.csv, goodreads_rating.csv,
#              goodreads_pages.csv, one value a line (default none; what is absent is skipped)
#   BENCH_REFERENCE  CSV of mean gaps to compare with: dataset, granularity, pure|zcdp, m, mean gap, trials
#   BENCH_PLOTS  directory for SVG plots of the user-level mechanisms (default none)
#   CHARGE_SECONDS  seconds for each figure of a charge's cost (default 10)
#   TRIALS     trials of each accuracy figure (default 400)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh

ROWS=${ROWS:-10000000}
ROUNDS=${ROUNDS:-5}
BENCH_DATA=${BENCH_DATA:-}
BENCH_REFERENCE=${BENCH_REFERENCE:-}
TRIALS=${TRIALS:-400}
BENCH_PLOTS=${BENCH_PLOTS:-}

load() {
  start_server
  query <<SQL
CREATE EXTENSION dpquantile;
CREATE EXTENSION tdigest;
SELECT dp_grant_budget('postgres', 1000000, 0.9) \g /dev/null
SELECT setseed(0.5) \g /dev/null
CREATE TABLE bench AS
  SELECT random() * 1000 AS x, floor(100000 * random() ^ 2)::int AS u FROM generate_series(1, $ROWS);
VACUUM (ANALYZE, FREEZE) bench;
CHECKPOINT;
SQL
}

# Prints "query<tab>milliseconds" for every timed query of every round. $1: parallel workers, $2: JIT.
measure() {
  local round
  for ((round = 0; round <= ROUNDS; round++)); do
    {
      echo "SET max_parallel_workers_per_gather = $1; SET jit = $2; SET work_mem = '64MB';"
      cat test/bench/speed.sql
    } | query | awk -v round="$round" '
      /^query: / { name = substr($0, 8) }
      /^Time: / && round > 0 { print name "\t" $2 }' # the first round warms up
  done
}

# From lines "query<tab>milliseconds": the median of each query and its ratio to the others.
table() {
  sort -t$'\t' -k1,1 -k2,2n | awk -F'\t' '
    { times[$1, ++count[$1]] = $2 }
    END {
      base = median("dp_quantiles of 9"); average = median("avg(x)")
      printf "  %-22s %10s %16s %22s\n", "query", "median ms", "against avg(x)", "against dp_quantiles"
      n = split("avg(x)|dp_quantiles of 9|dp_cdf|tdigest of 9|percentile_cont of 9|dp_iqr|" \
                "percentile_cont of 2|dp_user_mean", names, "|")
      for (i = 1; i <= n; i++) {
        value = median(names[i])
        printf "  %-22s %10.0f %16.2f %22.2f\n", names[i], value, value / average, value / base
      }
      printf "  dp_iqr against percentile_cont of the same 2 quartiles: %.2f\n", \
        median("dp_iqr") / median("percentile_cont of 2")
    }
    function median(name, k) {
      k = count[name]
      return k % 2 ? times[name, (k + 1) / 2] : (times[name, k / 2] + times[name, k / 2 + 1]) / 2
    }'
}

speed() {
  local workers jit
  for workers in 0 2; do
    for jit in off on; do
      echo
      echo "Speed: $ROWS float8 rows, $workers parallel workers, JIT $jit, median of $ROUNDS"
      measure "$workers" "$jit" | table
    done
  done
}

test/bench/charge.sh
echo
build .build/accuracy .build/cdf_accuracy .build/iqr_accuracy .build/user_accuracy .build/quantile_time
load
echo "PostgreSQL $(query -A -t -c 'SHOW server_version'), $(nproc) processors"
speed
echo
.build/accuracy "$TRIALS" "$BENCH_DATA" "$BENCH_REFERENCE"
echo
.build/quantile_time
echo
.build/cdf_accuracy "$TRIALS"
echo
.build/iqr_accuracy "$TRIALS"
echo
if [[ -n $BENCH_PLOTS ]]; then mkdir -p "$BENCH_PLOTS"; fi
.build/user_accuracy "$TRIALS" "$BENCH_PLOTS"
