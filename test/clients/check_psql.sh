#!/usr/bin/env bash
# psql: how often its own commands execute a query.
set -euo pipefail

psql=(psql -X -A -t -q -v ON_ERROR_STOP=1 -U analyst)

charges() { "${psql[@]}" -c 'SELECT count(*) FROM dp_ledger'; }

# charged NUMBER NAME EXPECTED: runs the script of stdin. EXPECTED is a pattern of its output.
charged() {
  local before output
  before=$(charges)
  output=$("${psql[@]}" -f -)
  if [[ $(($(charges) - before)) == "$1" && $output =~ $3 ]]; then
    echo "ok - $2: charged $1 times"
  else
    echo "not ok - $2: charged $(($(charges) - before)) times, expected $1; printed $output"
  fi
}

echo "client $(psql --version | cut -d' ' -f1,3)"
charged 1 'FETCH_COUNT' $'^18\\|.*\n67\\|[0-9.]+$' <<'END'
\set FETCH_COUNT 7
SELECT age, dp_median(salary, 0.05, 0, 100000) FROM people GROUP BY age;
END
charged 0 '\gdesc' '^dp_median\|numeric$' <<'END'
SELECT dp_median(salary, 0.05, 0, 100000) FROM people \gdesc
END
charged 2 'a prepared statement, executed twice' $'^[0-9.]+\n[0-9.]+$' <<'END'
PREPARE median AS SELECT dp_median(age, $1, $2, $3) FROM people;
EXECUTE median(0.05, 0, 120);
EXECUTE median('0.05', 0, 120);
END
charged 3 'dates, a mean and an array in variables' $'^2024-[0-9-]+\\|[0-9.]+\\|\\{[0-9]+,[0-9]+\\}$' <<'END'
\set last 2025-01-01
\set upper 1e5
\set bounds '{0,50,100}'
SELECT dp_median(day, 0.05, '2024-01-01', :'last') AS day FROM visits \gset
SELECT :'day', dp_avg(salary, 0.05, 0, :upper), dp_histogram(age, 0.05, :'bounds') FROM people;
END
charged 2 'a count and statistics as columns' $'^([0-9.]+\\|){10}[0-9]+$' <<'END'
SELECT (dp_stats(salary, 0.05, 0, 100000)).*, dp_count(0.05) FROM people;
END
charged 1 '\gset and its variable' '^t$' <<'END'
SELECT dp_cdf(age, 0.05, 0, 120, dp_options(bins => 12)) AS cdf FROM people \gset
SELECT dp_cdf_rows(:'cdf') > 0;
END
