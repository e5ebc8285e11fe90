#!/usr/bin/env bash
# run.sh PROGRAM: runs every target of the fuzzer on its corpus and on inputs that libFuzzer makes. `make fuzz` calls it. The last
# line is "N passed, N failed", one test a target.
# SECONDS_IN_ALL: for all targets together, by default 600; TARGETS: only these; NEW: a directory for inputs that reach new lines.
set -euo pipefail

program=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-fuzz-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

ln -s "$program" "$work/list"
read -ra targets <<<"${TARGETS:-$("$work/list" | tr '\n' ' ')}"
seconds=$((${SECONDS_IN_ALL:-600} / ${#targets[@]}))
passed=0
failed=0
for target in "${targets[@]}"; do
  ln -s "$program" "$work/$target"
  new=${NEW:-$work/new}/$target
  corpus=$here/corpus/$target
  mkdir -p "$new" "$work/crash"
  [[ -d $corpus ]] || corpus=
  # A slow input is one that takes more than 20 s: there is no promise about time, but work must be bounded.
  if "$work/$target" -max_total_time="$((seconds > 0 ? seconds : 1))" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -print_final_stats=1 \
    -artifact_prefix="$work/crash/" "$new" $corpus >"$work/log" 2>&1; then
    passed=$((passed + 1))
    printf '%-18s %9s inputs\n' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")"
  else
    failed=$((failed + 1))
    echo "--- $target"
    grep -E -m 1 'INVARIANT|runtime error|ERROR: |SUMMARY' "$work/log" || true
    tail -n 40 "$work/log"
    for input in "$work"/crash/*; do [[ -f $input ]] && echo "input: $(base64 -w0 "$input")"; done
  fi
done
echo "$passed passed, $failed failed"
((passed && !failed))
