#!/usr/bin/env bash
# make bench: speed compared with PostgreSQL's own aggregates and tdigest, and accuracy compared with the reference.
#   ROWS       rows of the timed table (default 10 million)
#   ROUNDS     timed rounds, of which the tables show the median (default 9)
#   GROUP_ROWS, GROUP_ROUNDS, GROUP_NUMBERS  of the table by number of groups, keys and memory: see groups.sh
#   HUGE       1: also 100 million rows, once; takes 6 GB of disk (default 0)
#   BENCH_DATA directory with adult_age.csv, adult_hours.csv, goodreads_rating.csv,
#              goodreads_pages.csv, one value a line (default none; absent files are skipped)
#   BENCH_REFERENCE  CSV of mean gaps to compare with: dataset, granularity, pure|zcdp, m, mean gap, trials
#   BENCH_PLOTS  directory for SVG plots of the user-level mechanisms (default none)
#   PROTECTED_ROWS  rows of a protected table (default 3 million)
#   WORST_ROWS  rows of the tables with the worst values for expressions (default 200)
#   TIMES      query times by which neighbours are told apart (default 100000)
#   DISTRIBUTED_ROWS  rows of a distributed table, where Citus is installed (default 10 million)
#   CHARGE_SECONDS  seconds for each figure of a charge's cost (default 10)
#   TRIALS     trials of each accuracy figure (default 400)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh
# shellcheck source=test/bench/speed.sh
source test/bench/speed.sh
# shellcheck source=test/bench/growth.sh
source test/bench/growth.sh

ROWS=${ROWS:-10000000}
ROUNDS=${ROUNDS:-9}
HUGE=${HUGE:-0}
BENCH_DATA=${BENCH_DATA:-}
BENCH_REFERENCE=${BENCH_REFERENCE:-}
TRIALS=${TRIALS:-400}
GROUPS_TIMED=$((ROWS / 100))
BENCH_PLOTS=${BENCH_PLOTS:-}

load() {
  start_server
  preload_library
  query <<SQL
CREATE EXTENSION dpquantile;
CREATE EXTENSION tdigest;
SELECT dp_grant_budget('postgres', 1000000, 0.9, smallest_charge => 1e-6) \g /dev/null
SELECT setseed(0.5) \g /dev/null
CREATE TABLE bench AS
  SELECT random() * 1000 AS x, floor(100000 * random() ^ 2)::int AS u FROM generate_series(1, $ROWS);
CREATE TABLE grouped AS
  SELECT random() * 1000 AS x, i % $GROUPS_TIMED AS g
    FROM generate_series(1, $GROUPS_TIMED * 100) i ORDER BY random();
VACUUM (ANALYZE, FREEZE) bench, grouped;
CHECKPOINT;
SQL
}

test/bench/charge.sh
echo
test/bench/groups.sh
echo
test/bench/protected.sh
echo
test/bench/row_time.sh
echo
test/bench/neighbour_times.sh
echo
test/bench/distributed.sh
echo
build .build/accuracy .build/cdf_accuracy .build/iqr_accuracy .build/moments_accuracy .build/bounds_accuracy .build/persons_accuracy .build/user_accuracy \
  .build/quantile_time .build/final_step_time
load
echo "PostgreSQL $(query -A -t -c 'SHOW server_version'), $(nproc) processors, the library preloaded"
speed
echo
growth
echo
test/bench/instructions.sh
echo
.build/final_step_time
echo
.build/accuracy "$TRIALS" "$BENCH_DATA" "$BENCH_REFERENCE"
echo
.build/quantile_time
echo
.build/cdf_accuracy "$TRIALS"
echo
.build/iqr_accuracy "$TRIALS"
echo
.build/moments_accuracy "$TRIALS" "$BENCH_DATA"
echo
.build/bounds_accuracy "$TRIALS" "$BENCH_DATA"
echo
.build/persons_accuracy "$TRIALS"
echo
if [[ -n $BENCH_PLOTS ]]; then mkdir -p "$BENCH_PLOTS"; fi
.build/user_accuracy "$TRIALS" "$BENCH_PLOTS"
