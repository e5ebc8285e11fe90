#!/usr/bin/env bash
# run-gtest.sh PROGRAM [FILTER]: runs the tests of PROGRAM in parts, one on each processor at a time. Prints the output of one part
# after the other, failed parts last. FILTER: patterns of names, of which each must match a test, or -PATTERN:PATTERN for
# all other tests. RUNNER: the emulator of another processor, for example qemu-s390x.
set -euo pipefail

program=$1
export GTEST_FILTER=${2:-*}
read -ra runner <<<"${RUNNER:-}"
IFS=: read -ra patterns <<<"${GTEST_FILTER#-}"
for pattern in "${patterns[@]}"; do
  if ! "${runner[@]}" "$program" --gtest_filter="$pattern" --gtest_list_tests | grep '^  ' >/dev/null; then
    echo "No test of $program matches $pattern." >&2
    exit 1
  fi
done
logs=$program.logs
rm -rf "$logs"
mkdir "$logs"

# More parts than processors: parts take different times.
processors=$(nproc)
export GTEST_TOTAL_SHARDS=$((4 * processors))
pids=()
# After a stop the output shows which tests were running.
trap 'kill $(jobs -p) 2>/dev/null; cat "$logs"/*; exit 143' TERM INT HUP
for ((part = 0; part < GTEST_TOTAL_SHARDS; part++)); do
  while (($(jobs -rp | wc -l) >= processors)); do wait -n || true; done
  GTEST_SHARD_INDEX=$part "${runner[@]}" "$program" >"$logs/$part" 2>&1 &
  pids+=("$!")
done

failed=()
for ((part = 0; part < GTEST_TOTAL_SHARDS; part++)); do
  if wait "${pids[part]}"; then cat "$logs/$part"; else failed+=("$logs/$part"); fi
done
if ((${#failed[@]})); then
  cat "${failed[@]}"
  exit 1
fi
