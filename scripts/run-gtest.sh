#!/usr/bin/env bash
# run-gtest.sh PROGRAM [FILTER]: runs the tests of PROGRAM in parallel, one part for each processor. Prints the output of one part
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

GTEST_TOTAL_SHARDS=$(nproc)
export GTEST_TOTAL_SHARDS
pids=()
for ((part = 0; part < GTEST_TOTAL_SHARDS; part++)); do
  GTEST_SHARD_INDEX=$part "${runner[@]}" "$program" >"$logs/$part" 2>&1 &
  pids+=("$!")
done
# After a stop the output shows which test was running.
trap 'kill "${pids[@]}" 2>/dev/null; cat "$logs"/*; exit 143' TERM INT HUP

failed=()
for ((part = 0; part < GTEST_TOTAL_SHARDS; part++)); do
  if wait "${pids[part]}"; then cat "$logs/$part"; else failed+=("$logs/$part"); fi
done
if ((${#failed[@]})); then
  cat "${failed[@]}"
  exit 1
fi
