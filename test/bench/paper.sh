#!/usr/bin/env bash
# make paper: figures 4 to 8 of Kaplan, Schnapp and Stemmer 2022, "Differentially Private Approximate
# Quantiles", from a PostgreSQL server with this extension. docs/experiments.md explains them.
#   PAPER_DATA       directory with adult_age.csv, adult_hours.csv, goodreads_rating.csv,
#                    goodreads_pages.csv, one value a line (default none; absent files are skipped)
#   PAPER_REFERENCE  directory with quantile_gap.csv and prototype_grid_aq.csv to compare with (default none)
#   PAPER_TRIALS     draws of 1000 rows a figure (default 100, as in the paper); 'joint' beyond m = 10 and 'tree' get fewer
#   PAPER_METHODS    methods to measure (default all: "approximate joint independent tree auto")
#   PAPER_MEASURES   privacy measures (default both: "pure zcdp")
#   PAPER_JOBS       datasets measured at a time (default: the number of processors)
#   PAPER_OUT        directory for measured.csv and the SVG pictures (default .build/paper)
set -euo pipefail
cd "$(dirname "$0")/../.."

PAPER_DATA=${PAPER_DATA:-}
PAPER_REFERENCE=${PAPER_REFERENCE:-}
PAPER_TRIALS=${PAPER_TRIALS:-100}
PAPER_METHODS=${PAPER_METHODS:-approximate joint independent tree auto}
PAPER_MEASURES=${PAPER_MEASURES:-pure zcdp}
PAPER_JOBS=${PAPER_JOBS:-$(nproc)}
PAPER_OUT=${PAPER_OUT:-.build/paper}

if ! ((PAPER_TRIALS >= 2)); then
  echo "PAPER_TRIALS must be 2 or more." >&2
  exit 1
fi

# shellcheck source=test/bench/server.sh
source test/bench/server.sh

# Measures the dataset $1 with granularity $2.
measure() {
  local file=$PAPER_DATA/$1.csv started=$SECONDS
  local variables=(-v dataset="$1" -v granularity="$2" -v trials="$PAPER_TRIALS"
    -v methods="${PAPER_METHODS// /,}" -v measures="${PAPER_MEASURES// /,}")
  case $1 in
    uniform | gaussian) query "${variables[@]}" -f "$work/paper.sql" </dev/null ;;
    *)
      if [[ -z $PAPER_DATA || ! -r $file ]]; then
        echo "notice: $1 skipped: no ${PAPER_DATA:-PAPER_DATA}/$1.csv (set PAPER_DATA=directory)"
        return
      fi
      query "${variables[@]}" -v file=given -f "$work/paper.sql" <"$file"
      ;;
  esac
  echo "$1: $((SECONDS - started)) s"
}

build .build/paper_figures .build/quantile_time
cp test/bench/paper.sql "$work/paper.sql"
chmod 644 "$work/paper.sql"
start_server
query <<SQL
CREATE EXTENSION dpquantile;
SELECT dp_grant_budget('postgres', 1000000, 1e-6, accountant => 'zcdp', smallest_charge => 1e-12) \g /dev/null
CREATE TABLE measured (dataset text, method text, privacy text, m int, mean_gap float8, se_gap float8,
                       trials int, mean_seconds float8);
SQL
echo "PostgreSQL $(query -A -t -c 'SHOW server_version'), $(nproc) processors, $PAPER_JOBS datasets at a time"

# The pids of the measuring shells. Each must succeed.
running=()
for dataset in adult_age:1 adult_hours:1 goodreads_rating:0.01 goodreads_pages:0.01 \
  uniform:1.1920928955078125e-05 gaussian:1.1920928955078125e-05; do
  if ((${#running[@]} >= PAPER_JOBS)); then
    wait "${running[0]}"
    running=("${running[@]:1}")
  fi
  measure "${dataset%:*}" "${dataset#*:}" &
  running+=($!)
done
for pid in "${running[@]}"; do wait "$pid"; done

mkdir -p "$PAPER_OUT"
query -c "\copy (SELECT * FROM measured ORDER BY dataset, method, privacy, m) TO pstdout WITH (FORMAT csv, HEADER)" \
  >"$PAPER_OUT/measured.csv"
echo
.build/quantile_time
echo
.build/paper_figures "$PAPER_OUT" "$PAPER_REFERENCE"
