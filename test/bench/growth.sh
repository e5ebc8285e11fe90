# shellcheck shell=bash
# run.sh sources this: how time and memory grow with the number of rows.

# Prints a line of the table. $1: the rows, $2: the aggregate of x, $3: its name.
growth_line() {
  query -A -t -F ' ' -v statement="SELECT $2 FROM part" -f test/bench/growth.sql |
    awk -v rows="$1" -v name="$3" '
      /^peak / { peak[++n] = $2 }
      /^Time: / { time = $2 }
      END {
        memory = (peak[2] - peak[1]) * 1024
        printf "  %-12d %-34s %10.1f %10.1f %10.1f %12.2f\n", \
          rows, name, time, time * 1e6 / rows, memory / 1e6, memory / rows
      }'
}

growth() {
  # shellcheck disable=SC2153 # run.sh sets ROWS
  local rows most=$ROWS
  local ninths='array[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]'
  local fine='dp_options(granularity => 1000 / 4294967295.0::float8)'
  if ((HUGE && most < 100000000)); then most=100000000; fi
  echo 'Growth with the number of rows: serial, JIT off, one run each. Memory is what the query adds to the backend'\''s peak'
  printf '  %-12s %-34s %10s %10s %10s %12s\n' rows query ms 'ns a row' MB 'bytes a row'
  for ((rows = 100000; rows <= most; rows *= 10)); do
    query -c "CREATE UNLOGGED TABLE part AS SELECT random() * 1000 AS x FROM generate_series(1, $rows)" \
      -c 'VACUUM (ANALYZE, FREEZE) part'
    growth_line "$rows" 'avg(x)' 'avg(x)'
    growth_line "$rows" "dp_quantiles(x, $ninths, 1, 0, 1000)" 'dp_quantiles of 9'
    growth_line "$rows" 'dp_cdf(x, 1, 0, 1000)' 'dp_cdf'
    growth_line "$rows" "dp_quantiles(x, $ninths, 1, 0, 1000, $fine)" 'dp_quantiles of 9 on 2^32 cells'
    query -c 'DROP TABLE part'
  done
}
