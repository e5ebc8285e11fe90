# shellcheck shell=bash
# run.sh sources this: the time of queries, also as ratios to avg and to dp_quantiles in the same run.

# Prints "query<tab>milliseconds" for every query in every round. $1: parallel workers, $2: JIT, $3: the
# file of queries.
measure() {
  local round
  for ((round = 0; round <= ROUNDS; round++)); do
    {
      echo "SET max_parallel_workers_per_gather = $1; SET jit = $2; SET work_mem = '64MB';"
      cat "$3"
    } | query | awk -v round="$round" '
      /^query: / { name = substr($0, 8) }
      /^Time: / && round > 0 { print name "\t" $2 }' # the first round warms up
  done
}

# Reads lines "query<tab>milliseconds". Prints the median of each query and its ratios to avg and dp_quantiles.
table() {
  sort -t$'\t' -k1,1 -k2,2n | awk -F'\t' '
    { times[$1, ++count[$1]] = $2 }
    END {
      base = median("dp_quantiles of 9"); average = median("avg(x)")
      printf "  %-22s %10s %16s %22s\n", "query", "median ms", "against avg(x)", "against dp_quantiles"
      n = split("avg(x)|dp_count|dp_sum|dp_avg|dp_stats|dp_histogram|dp_quantiles of 9|approximate of 9|dp_cdf|dp_count_distinct|" \
                "count(DISTINCT)|tdigest of 9|percentile_cont of 9|dp_iqr|" \
                "percentile_cont of 2|dp_user_mean|dp_median", names, "|")
      for (i = 1; i <= n; i++) {
        if (!((names[i], 1) in times)) continue
        value = median(names[i])
        printf "  %-22s %10.0f %16.2f %22.2f\n", names[i], value, value / average, value / base
      }
      if (("dp_iqr", 1) in times)
        printf "  dp_iqr against percentile_cont of the same 2 quartiles: %.2f\n", \
          median("dp_iqr") / median("percentile_cont of 2")
    }
    function median(name, k) {
      k = count[name]
      return k % 2 ? times[name, (k + 1) / 2] : (times[name, k / 2] + times[name, k / 2 + 1]) / 2
    }'
}

speed() {
  local workers jit
  for workers in 0 2; do
    for jit in off on; do
      echo
      echo "Speed: $ROWS float8 rows, $workers parallel workers, JIT $jit, median of $ROUNDS"
      measure "$workers" "$jit" test/bench/speed.sql | table
      echo
      echo "Groups: $GROUPS_TIMED of 100 rows, $workers parallel workers, JIT $jit, median of $ROUNDS"
      measure "$workers" "$jit" test/bench/groups.sql | table
    done
  done
}
