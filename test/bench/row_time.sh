#!/usr/bin/env bash
# How long the expressions of a private query over a protected table may take for one row: the worst that are accepted, and each function that a
# query may use. Part of make bench. src/pg/protect/row_work.cpp has the times that it assumes. test/t/total_functions.pl runs the file of SQL, too.
#   WORST_ROWS  rows of the tables, each with the worst values (default 200)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh

# shellcheck disable=SC2119 # no programs
build
start_server
preload_library
query <<'SQL'
CREATE EXTENSION dpquantile;
CREATE ROLE analyst LOGIN;
SELECT dp_grant_budget('analyst', 1e6, smallest_charge => 0.001), dp_restrict_role('analyst') \g /dev/null
SQL
query -v rows="${WORST_ROWS:-200}" -v bytes=1048576 -v copies=1024 -v rounds=4 <test/bench/row_time.sql 2>&1 | sed 's/^.*INFO: *//'
