#!/usr/bin/env bash
# What the times of an analyst's queries tell of one row. Part of make bench.
#   TIMES  query times of one session, in all (default 100000)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh

TIMES=${TIMES:-100000}

# shellcheck disable=SC2119 # no programs
build
start_server
preload_library
# Charges are still written, but the disk does not hide the times.
# shellcheck disable=SC2119
query <<SQL
ALTER SYSTEM SET fsync = off;
ALTER SYSTEM SET autovacuum = off;
ALTER SYSTEM SET jit = off;
SQL
restart_server
# shellcheck source=scripts/cluster.sh
PGHOST=$(source scripts/cluster.sh && cluster_socket "$work/cluster") PGPORT=5432 PYTHONDONTWRITEBYTECODE=1 \
  /usr/bin/python3 test/bench/neighbour_times.py "$TIMES"
