#!/usr/bin/env bash
# What it costs that tables are protected: private queries of an analyst without SELECT beside the same queries of the owner,
# and statements that have nothing to do with protected tables. Part of make bench.
#   PROTECTED_ROWS  rows of the protected table (default 3 million)
#   ROUNDS          rounds, of which the figures are the median (default 9)
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=test/bench/server.sh
source test/bench/server.sh

PROTECTED_ROWS=${PROTECTED_ROWS:-3000000}
ROUNDS=${ROUNDS:-9}

# $1: user, $2: database, $3...: statements. Prints the milliseconds of each.
milliseconds() {
  {
    echo 'SET max_parallel_workers_per_gather = 0; SET jit = off;'
    echo '\timing on'
    printf '%s\n' "${@:3}"
  } | scripts/cluster.sh psql "$work/cluster" -U "$1" -d "$2" -X -q -o /dev/null -v ON_ERROR_STOP=1 |
    awk '/^Time: / { print $2 }'
}

# $1: user, $2: database, $3...: queries. Prints the milliseconds of the session's processor time of each.
processor_milliseconds() {
  {
    echo "SET max_parallel_workers_per_gather = 0; SET jit = off; SET work_mem = '${memory:-4MB}';"
    echo 'SELECT pg_backend_pid() AS pid \gset \setenv BACKEND :pid'
    # shellcheck disable=SC2016 # the shell of psql expands it
    printf '\\! cut -d" " -f1 "/proc/$BACKEND/schedstat" >&2\n%s\n\\! cut -d" " -f1 "/proc/$BACKEND/schedstat" >&2\n' "${@:3}"
  } | scripts/cluster.sh psql "$work/cluster" -U "$1" -d "$2" -X -q -o /dev/null -v ON_ERROR_STOP=1 2>&1 |
    awk 'NR % 2 { before = $1; next } { print ($1 - before) / 1e6 }'
}

# A statement that plans and executes statement $2 $1 times.
repeat() {
  # shellcheck disable=SC2016 # dollar quotes
  printf 'DO $do$ BEGIN FOR i IN 1..%d LOOP EXECUTE $sql$%s$sql$; END LOOP; END $do$;' "$1" "$2"
}

median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# Prints the median of the times of two commands, which take turns. $1: rounds; $2, $3: names of functions.
in_turn() {
  local round
  for ((round = 0; round <= $1; round++)); do
    "$2" >>"$work/first"
    "$3" >>"$work/second"
    # The first round warms up.
    if ((round == 0)); then rm "$work/first" "$work/second"; fi
  done
  echo "$(median <"$work/first") $(median <"$work/second")"
  rm "$work/first" "$work/second"
}

# $1: title; $2, $3: names of functions.
compare() {
  in_turn "$ROUNDS" "$2" "$3" | awk -v title="$1" '{ printf "  %-46s %10.0f %10.0f %8.2f\n", title, $1, $2, $2 / $1 }'
}

# $1: title, $2: query, $3: what measures it.
compare_queries() {
  local query=$2 measure=${3:-milliseconds}
  by_owner() { "$measure" owner postgres "$query"; }
  by_analyst() { "$measure" analyst postgres "$query"; }
  compare "$1" by_owner by_analyst
}

# $1: title; $2, $3: two tables; $4: query with TABLE for the name.
compare_tables() {
  local first=${4//TABLE/$2} second=${4//TABLE/$3}
  first_table() { processor_milliseconds analyst postgres "$first"; }
  second_table() { processor_milliseconds analyst postgres "$second"; }
  compare "$1" first_table second_table
}

# $1: title, $2: how often, $3: query. Prints microseconds for one, as two roles or in two databases.
compare_statements() {
  local statement
  statement=$(repeat "$2" "$3")
  first() { milliseconds "$first_role" "$first_database" "$statement"; }
  second() { milliseconds analyst postgres "$statement"; }
  in_turn "$ROUNDS" first second | awk -v title="$1" -v times="$2" '{
    printf "  %-46s %10.1f %10.1f %8.1f\n", title, 1000 * $1 / times, 1000 * $2 / times, 1000 * ($2 - $1) / times }'
}

# shellcheck disable=SC2119 # no programs
build
start_server
preload_library
query <<SQL
CREATE EXTENSION dpquantile;
CREATE ROLE owner LOGIN;
CREATE ROLE analyst LOGIN;
SELECT dp_grant_budget(role, 1e6, 0.5, smallest_charge => 0.001) FROM unnest('{owner,analyst}'::regrole[]) role \g /dev/null
SELECT dp_restrict_role('analyst') \g /dev/null
CREATE TABLE staff AS
  SELECT i AS id, 20 + i % 45 AS age, 20000.0 + i % 80000 AS salary, i % 20 AS department, 'city ' || i % 100 AS city,
         timestamptz '2020-01-01' + i % 2000 * interval '1 day' AS hired
    FROM generate_series(1, $PROTECTED_ROWS) i;
ALTER TABLE staff OWNER TO owner;
VACUUM (ANALYZE, FREEZE) staff;
CREATE TABLE plain (n int PRIMARY KEY);
INSERT INTO plain VALUES (1);
CREATE TABLE few_staff AS SELECT * FROM staff WHERE id <= 5000;
CREATE TABLE town (id int PRIMARY KEY, name text);
INSERT INTO town SELECT i, 'town ' || i FROM generate_series(1, 300000) i;
ALTER TABLE few_staff OWNER TO owner;
ALTER TABLE town OWNER TO owner;
VACUUM (ANALYZE, FREEZE) few_staff, town;
GRANT SELECT ON plain, town TO analyst;
SET ROLE owner;
SELECT dp_protect_table(t), dp_grant_private_access(t, 'analyst') FROM unnest('{staff,few_staff}'::regclass[]) t \g /dev/null
RESET ROLE;
-- Tables of many or few persons, with ids of several types. They are protected with max_rows, and again without persons.
CREATE FUNCTION add_visits(name text, patient text) RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
  protected text;
BEGIN
  FOREACH protected IN ARRAY ARRAY[name, name || '_rows'] LOOP
    EXECUTE format('CREATE TABLE %I AS SELECT %s AS patient, i %% 1000 * 7919 %% 1000 AS cost, i %% 20 AS department
                      FROM generate_series(1, $PROTECTED_ROWS) i', protected, patient);
    EXECUTE format('ALTER TABLE %I OWNER TO owner', protected);
    EXECUTE format('ANALYZE %I', protected);
  END LOOP;
END
\$\$;
SELECT add_visits('visits', 'hashint8(i) & 65535'), add_visits('uuids', 'md5((hashint8(i) & 65535)::text)::uuid'),
       add_visits('texts', \$\$'patient ' || (hashint8(i) & 65535)\$\$), add_visits('few', 'hashint8(i) & 262143'),
       add_visits('many', 'hashint8(i) & 1023') \g /dev/null
SET ROLE owner;
SELECT dp_protect_table(t::regclass, 'patient', 20), dp_protect_table((t || '_rows')::regclass) FROM unnest('{visits,uuids,texts,few,many}'::text[]) t
\g /dev/null
SELECT dp_set_domain(t, 'cost', 0, 1000, 1), dp_set_domain(t, 'department', 0, 19), dp_grant_private_access(t, 'analyst', epsilon => 0.1)
  FROM (SELECT (name || suffix)::regclass AS t FROM unnest('{visits,uuids,texts,few,many}'::text[]) name, unnest(ARRAY['', '_rows']) suffix) t
\g /dev/null
RESET ROLE;
CREATE DATABASE other;
\c other
CREATE EXTENSION dpquantile;
CREATE TABLE plain (n int PRIMARY KEY);
INSERT INTO plain VALUES (1);
GRANT SELECT ON plain TO analyst;
CHECKPOINT;
SQL

echo "Protected tables: $PROTECTED_ROWS rows, serial, without JIT, median of $ROUNDS"
printf '  %-46s %10s %10s %8s\n' '' 'owner ms' 'analyst ms' 'ratio'
compare_queries 'dp_avg of a column' 'SELECT dp_avg(salary, 0.1, 0, 200000) FROM staff;'
compare_queries 'a condition, two aggregates' \
  "SELECT dp_count(0.1), dp_avg(salary, 0.1, 0, 200000) FROM staff WHERE age > 30 AND city <> 'city 7';"
compare_queries 'kept groups' \
  'SELECT department, dp_avg(salary, 0.1, 0, 200000) FROM staff GROUP BY department HAVING dp_keep_group(0.1, 1e-9);'
compare_queries 'functions that cannot fail' \
  "SELECT date_trunc('month', hired), dp_avg(salary / 12, 0.1, 0, 20000) FROM staff WHERE city ILIKE 'c%' GROUP BY 1
   HAVING dp_keep_group(0.1, 1e-9);"

compare_queries 'keys that are texts, stored' "SELECT city, dp_count(0.1) FROM staff GROUP BY 1 HAVING dp_keep_group(0.1, 1e-9);"
compare_queries 'keys that are texts, computed' "SELECT lower(city), dp_count(0.1) FROM staff GROUP BY 1 HAVING dp_keep_group(0.1, 1e-9);"
compare_queries '5000 rows joined with 300000' 'SELECT dp_count(0.1) FROM few_staff s JOIN town t ON t.id = s.id;'
compare_queries 'the same, with a condition on these' 'SELECT dp_count(0.1) FROM few_staff s JOIN town t ON t.id = s.id AND t.id <= 5000;'

echo
echo "At most 20 rows of a person, milliseconds of processor time"
printf '  %-46s %10s %10s %8s\n' '' 'all rows' 'limited' 'ratio'
for kind in 'visits:65536 persons' 'uuids:65536, uuid' 'texts:65536, text' 'few:262144' 'many:1024'; do
  name=${kind%%:*}
  compare_tables "${kind#*:}: count(*)" "${name}_rows" "$name" 'SELECT count(*) FROM TABLE;'
  compare_tables "${kind#*:}: avg" "${name}_rows" "$name" 'SELECT avg(cost) FROM TABLE;'
  compare_tables "${kind#*:}: median" "${name}_rows" "$name" 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) FROM TABLE;'
  compare_tables "${kind#*:}: avg of 20 groups" "${name}_rows" "$name" 'SELECT department, avg(cost) FROM TABLE GROUP BY department;'
done
echo

# With this memory the hash tables of the owner, too, stay in memory.
memory=64MB
echo "What is asked of each of 65536 persons, milliseconds of processor time, work_mem = $memory"
printf '  %-46s %10s %10s %8s\n' '' 'owner' 'analyst' 'ratio'
# $1: an aggregate, $2: its bound.
compare_persons() {
  compare_queries "$1" "SELECT avg(least(x, $2)) FROM (SELECT $1 AS x FROM visits GROUP BY patient) p;" processor_milliseconds
}
compare_persons 'count(*)' 100
compare_persons 'sum(cost)' 50000
compare_persons 'sum(cost::float8)' 50000
compare_persons 'sum(cost::numeric)' 50000
compare_persons 'max(cost)' 1000
compare_persons 'count(DISTINCT department)' 20
compare_persons 'percentile_cont(0.5) WITHIN GROUP (ORDER BY cost)' 1000
compare_queries 'stddev(cost::float8)' \
  'SELECT count(*) FROM (SELECT stddev(cost::float8) AS x FROM visits GROUP BY patient) p WHERE x > 288;' processor_milliseconds
compare_queries 'HAVING count(*) > 46' 'SELECT count(*) FROM (SELECT patient FROM visits GROUP BY patient HAVING count(*) > 46) p;' processor_milliseconds
compare_queries 'SELECT DISTINCT patient' 'SELECT count(*) FROM (SELECT DISTINCT patient FROM visits) p;' processor_milliseconds
compare_queries 'DISTINCT ON (patient)' 'SELECT avg(cost) FROM (SELECT DISTINCT ON (patient) cost FROM visits ORDER BY patient, department) p;' processor_milliseconds
compare_queries 'SELECT DISTINCT patient, department' \
  'SELECT count(*) FROM (SELECT DISTINCT patient, department FROM visits) p;' processor_milliseconds
compare_queries 'INTERSECT by patient' \
  'SELECT count(*) FROM (SELECT patient FROM visits INTERSECT SELECT patient FROM visits WHERE department < 10) p;' processor_milliseconds
compare_queries 'INTERSECT by patient, department' \
  'SELECT count(*) FROM (SELECT patient, department FROM visits INTERSECT SELECT patient, department FROM visits WHERE cost < 500) p;' processor_milliseconds
compare_queries 'cost - lag(cost)' \
  'SELECT avg(least(x, 1000)) FROM (SELECT cost - lag(cost) OVER (PARTITION BY patient ORDER BY department) AS x FROM visits) p;' processor_milliseconds

typical="SELECT * FROM (SELECT date_trunc('month', hired) AS month, dp_avg(salary, 0.1, 0, 200000), dp_count(0.1) FROM staff
  WHERE age > 30 AND hired >= now() - interval '1 year' AND city ILIKE 'b%' GROUP BY date_trunc('month', hired)
  HAVING dp_keep_group(0.1, 1e-9)) t LIMIT 0"
printf '\n  %-46s %10s %10s %8s\n' 'microseconds to plan, nothing is read' 'owner' 'analyst' 'more'
first_role=owner first_database=postgres
compare_statements 'a private query' 5000 "$typical"
printf '  %-46s %10s %10s %8s\n' '' 'elsewhere' 'here' 'more'
first_role=analyst first_database=other
compare_statements 'a query by key, of no protected table' 100000 'SELECT n FROM plain WHERE n = 1'
