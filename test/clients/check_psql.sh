#!/usr/bin/env bash
# psql: how often its own commands execute a query, and what they show of a protected table.
set -euo pipefail

export PGUSER=reader
psql=(psql -X -A -t -q)

charges() { "${psql[@]}" -c 'SELECT count(*) FROM dp_ledger'; }

# charged NUMBER NAME EXPECTED: runs the script of stdin. EXPECTED is a pattern of its output.
charged() {
  local before output
  before=$(charges)
  output=$("${psql[@]}" -f - 2>&1)
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

# Role analyst has no SELECT on people.
PGUSER=analyst
charged 1 'protected: FETCH_COUNT' $'^18\\|.*\n67\\|[0-9.]+$' <<'END'
\set FETCH_COUNT 7
SELECT a.age, dp_median(salary, 0.05, 0, 100000) FROM ages a LEFT JOIN people p ON p.age = a.age GROUP BY a.age;
END
charged 0 'protected: \gdesc' $'^dp_median\\|numeric\nid\\|integer\nage\\|integer$' <<'END'
SELECT dp_median(salary, 0.05, 0, 100000) FROM people WHERE age > 30 \gdesc
SELECT id, age FROM people \gdesc
END
charged 12 'protected: a prepared statement, executed twelve times' $'^([34][0-9]{3}\n){11}[34][0-9]{3}\n7$' <<'END'
PREPARE chosen AS SELECT dp_count(0.5) FROM people WHERE id <= $1 AND department = $2;
SELECT 'EXECUTE chosen(4000, ''Sales'')' FROM generate_series(1, 12) \gexec
SELECT generic_plans FROM pg_prepared_statements;
END
charged 1 'protected: a cursor' $'^18\n19\n20$' <<'END'
BEGIN;
DECLARE groups CURSOR FOR
  SELECT age FROM (SELECT a.age, dp_count(id, 0.05) FROM ages a LEFT JOIN people p ON p.age = a.age GROUP BY a.age) t;
FETCH 2 FROM groups;
FETCH 1 FROM groups;
COMMIT;
END
charged 1 'protected: \copy' '^[45][0-9]{3}$' <<'END'
\copy (SELECT dp_count(0.5) FROM people) TO STDOUT
END
charged 0 'protected: \d' $'\nid\\|integer\\|.*people_pkey" PRIMARY KEY' <<'END'
\t
\d people
END
charged 0 'protected: rows' $'ERROR:  42501: .*\nDETAIL:  Only differentially private .*\nHINT: .*' <<'END'
\set VERBOSITY verbose
SELECT * FROM people;
END
charged 0 'protected: \copy of rows' $'ERROR:  permission denied for table people$' <<'END'
\copy people TO STDOUT
END
