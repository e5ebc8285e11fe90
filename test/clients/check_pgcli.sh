#!/usr/bin/env bash
# pgcli, which has no mode without a terminal: it reads its lines from a pipe. Role analyst has no SELECT on people.
set -euo pipefail

charges() { psql -X -A -t -U analyst -c 'SELECT count(*) FROM dp_ledger'; }

expect() {
  if grep -qE "$2" <<<"$output"; then echo "ok - $1"; else echo "not ok - $1: $output"; fi
}

echo "client $(pgcli --version | sed 's/Version: /pgcli /')"
before=$(charges)
output=$(pgcli -U analyst -h "$PGHOST" -p "$PGPORT" -d "$PGDATABASE" --less-chatty --no-password 2>&1 <<'END'
SELECT dp_median(day, 0.05, '2024-01-01', '2025-01-01') FROM visits;
SELECT (dp_stats(salary, 0.05, 0, 100000)).* FROM people;
SELECT dp_median(age, -1, 0, 120) FROM people;
SELECT (dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)))::jsonb ->> 'bins' AS bins FROM people;
\d people
SELECT * FROM people;
END
)
expect 'the answer' '^\| 2024-[0-9]{2}-[0-9]{2} +\|'
expect 'statistics' '^\| count .*\| stddev_error +\|'
expect 'the error' 'epsilon must be between .*, got -1'
expect 'the hint' '^HINT: '
expect 'a dp_cdf' '^\| 12 +\|'
expect '\d of a protected table' '^\| department +\| text +\|'
expect 'rows are refused' '^DETAIL:  Only differentially private queries are allowed on it'
after=$(charges)
if ((after - before == 3)); then
  echo 'ok - three answers: charged 3 times'
else
  echo "not ok - three answers: charged $((after - before)) times"
fi
