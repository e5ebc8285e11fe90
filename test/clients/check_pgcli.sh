#!/usr/bin/env bash
# pgcli, which has no mode without a terminal: it reads its lines from a pipe.
set -euo pipefail

charges() { psql -X -A -t -U analyst -c 'SELECT count(*) FROM dp_ledger'; }

expect() {
  if grep -qE "$2" <<<"$output"; then echo "ok - $1"; else echo "not ok - $1: $output"; fi
}

echo "client $(pgcli --version | sed 's/Version: /pgcli /')"
before=$(charges)
output=$(pgcli -U analyst -h "$PGHOST" -p "$PGPORT" -d "$PGDATABASE" --less-chatty --no-password 2>&1 <<'END'
SELECT dp_median(age, 0.05, 0, 120) FROM people;
SELECT dp_median(age, -1, 0, 120) FROM people;
SELECT (dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)))::jsonb ->> 'bins' AS bins FROM people;
END
)
expect 'the answer' '^\| [0-9]+\.[0-9]+ +\|'
expect 'the error' 'epsilon must be between .*, got -1'
expect 'the hint' '^HINT: '
expect 'a dp_cdf' '^\| 12 +\|'
after=$(charges)
if ((after - before == 2)); then
  echo 'ok - two answers: charged 2 times'
else
  echo "not ok - two answers: charged $((after - before)) times"
fi
