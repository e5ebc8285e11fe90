#!/usr/bin/env bash
# run.sh sanitizers|memcheck LIBRARY: runs the SQL, isolation and TAP tests on a server that reports faults of memory in the
# extension. `make sanitize` and `make valgrind` call it. It installs nothing. The last line is "N passed, N failed"; each process
# of the server with a report is a failure, and so is undefined behaviour. The first reports are shown.
# REGRESS, ISOLATION: the tests, all by default; TAP: names of test/t, by default those below; TAP=all: each.
# PRELOADED: 1 preloads the library.
# KEEP: a directory for the reports and what the tests have printed.
set -euo pipefail

tool=$1
library=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"

# Those that read bytes, start workers, kill processes, send states between processes, and change what a query runs on.
tap=(bytes cancel crash kept_answers parallel partial plans protected_plans protected_statements resident rollback session_worker state
  total_functions workers)
# memcheck is some 30 times slower: those of the SQL tests that read bytes, draw with each method and run each path of a release.
if [[ $tool == memcheck ]]; then
  tap=()
  REGRESS=${REGRESS-cdf cdf_questions histogram_pictures iqr options plain_queries privacy_unit protected_tables quantiles release summaries user_mean}
  ISOLATION=${ISOLATION-}
fi
if [[ -n ${TAP+set} ]]; then read -ra tap <<<"$TAP"; fi
if [[ ${tap[*]} == all ]]; then mapfile -t tap < <(basename -s .pl "$tree"/test/t/*.pl); fi

work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-sanitize-XXXXXX")
chmod 755 "$work"
cleanup() {
  cluster_remove "$work/cluster"
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

reports=$work/reports
mkdir "$reports" "$work/tree"
cp "$here/memcheck.supp" "$work/"
chmod 777 "$reports"

# What the program postgres of a server below $work does before it becomes the real one
instrument() {
  case $tool in
    sanitizers)
      local preload="" name
      # pg_ctl restart starts the program that the server's own name tells, which must be this one.
      # ASan looks for __cxa_throw when it starts, before the library brings libstdc++.
      for name in libasan.so libubsan.so libstdc++.so; do preload+=" $("${CXX:-g++}" -print-file-name=$name)"; done
      "${CXX:-g++}" -fPIC -shared -Wl,-z,initfirst -nostdlib -o "$work/start_early.so" "$here/start_early.cpp" -lc
      preload+=" $work/start_early.so"
      cat <<END
export LD_PRELOAD='${preload# }'
export ASAN_OPTIONS=detect_leaks=0:log_path=$reports/asan:quarantine_size_mb=64:handle_abort=0:detect_stack_use_after_return=0
export UBSAN_OPTIONS=print_stacktrace=1
exec -a "\$0" '$1' "\$@"
END
      ;;
    memcheck)
      cat <<END
exec valgrind --quiet --leak-check=no --undef-value-errors=yes --error-limit=no --num-callers=30 --time-stamp=no \\
  --suppressions=$work/memcheck.supp --log-file=$reports/memcheck.%p --error-markers=REPORT-BEGIN,REPORT-END '$1' "\$@"
END
      ;;
  esac
}

# Two copies of the server: the programs of the first start those of the second under the tool. initdb and the like do not need it.
real=$("$tree/scripts/private-server.sh" "$work/real" "$library")
front=$("$tree/scripts/private-server.sh" "$work/front" "$library")
program=$(dirname "$front")/postgres
{
  echo '#!/bin/bash'
  echo "case \" \$* \" in *' --boot '* | *' --single '* | *' -V '* | *' --version '* | *' -C '* | *' --check '*) exec '$(dirname "$real")/postgres' \"\$@\" ;; esac"
  instrument "$(dirname "$real")/postgres"
} >"$program"
chmod 755 "$program"
export PG_CONFIG=$front
"$tree/scripts/pack-tree.sh" | tar -C "$work/tree" -xf -
if ((EUID == 0)); then chown -R "$owner:" "$work/tree"; fi

passed=0
failed=0
# count LOG PASSED FAILED: adds the lines of LOG that match
count() {
  passed=$((passed + $(grep -cE "$2" "$1" || true)))
  failed=$((failed + $(grep -cE "$3" "$1" || true)))
}

# installcheck NAME VARIABLE...: runs tests of the copy, with these variables of make
installcheck() {
  local log=$work/$1.log status=0
  shift
  as_owner env PGHOST="${socket:-}" PGPORT=5432 PGUSER=postgres DPQ_PRELOADED="${PRELOADED:-0}" DPQ_SANITIZED=1 PG_TEST_TIMEOUT_DEFAULT=900 \
    make -s -C "$work/tree" installcheck "$@" >"$log" 2>&1 || status=$?
  if [[ -n ${KEEP:-} ]]; then mkdir -p "$KEEP" && cp "$log" "$KEEP/"; fi
  count "$log" '\.\.\. ok |^ok [0-9]' '\.\.\. FAILED |^not ok [0-9]|Wstat: .* Failed: 0\)$'
  if ((status)); then
    grep -E -A 6 'FAILED|^not ok|Wstat|^#   Failed|^make.*Error' "$log" | head -n 100 || true
    cat "$work"/tree/{,output_iso/}regression.diffs 2>/dev/null | head -n 200 || true
    ((failed)) || failed=1
  fi
}

cluster_start "$work/cluster"
socket=$(cluster_socket "$work/cluster")
psql=(cluster_psql "$work/cluster" -X -q -U postgres -d postgres)
"${psql[@]}" -c 'ALTER SYSTEM SET fsync = off' -c 'ALTER SYSTEM SET jit = off'
if [[ ${PRELOADED:-0} == 1 ]]; then "${psql[@]}" -c "ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'"; fi
cluster_stop "$work/cluster"
cluster_start "$work/cluster"
if [[ ${REGRESS-all} != '' ]]; then installcheck regress ISOLATION= ${REGRESS:+REGRESS="$REGRESS"}; fi
if [[ ${ISOLATION-all} != '' ]]; then installcheck isolation REGRESS= ${ISOLATION:+ISOLATION="$ISOLATION"}; fi
cluster_stop "$work/cluster"
# One after the other: a test that bails out ends all of its run, and each run removes the logs of the last.
mkdir "$work/logs"
for name in "${tap[@]}"; do
  installcheck "tap-$name" REGRESS= ISOLATION= TAP_TESTS=1 PROVE_TESTS="test/t/$name.pl" PROVE_FLAGS=--verbose
  mv "$work/tree/tmp_check/log" "$work/logs/$name" || true
done

# Tests kill processes, but abort none. A failed assertion of a server that has them begins with TRAP.
if grep -rhE --include='*.log' --include=log 'PANIC|terminated by signal (4|6|7|8|11)|TRAP: ' "$work/cluster/log" "$work/logs" 2>/dev/null; then
  failed=$((failed + 1))
fi

# UBSan beside ASan writes to the server's log.
if [[ $tool == sanitizers ]]; then
  find "$work/cluster/log" "$work/logs" -type f -exec grep -hF 'runtime error: ' {} + 2>/dev/null | sort -u >"$reports/undefined" || true
fi

# A report of memcheck counts if a function of the extension is on its stack.
kept=0
for report in "$reports"/*; do
  [[ -s $report ]] || continue
  if [[ $tool == memcheck ]]; then
    awk '/REPORT-BEGIN/ { text = ""; inside = 1 } inside { text = text $0 "\n" }
      /REPORT-END/ { if (text ~ /dpquantile\.so/) printf "%s", text; inside = 0 }' "$report" >"$report.own"
    mv "$report.own" "$report"
    [[ -s $report ]] || continue
  fi
  kept=$((kept + 1))
  if [[ -n ${KEEP:-} ]]; then mkdir -p "$KEEP" && cp "$report" "$KEEP/"; fi
  if ((kept <= 5)); then echo "--- $(basename "$report")" && head -n 60 "$report"; fi
done
echo "$kept reports"
echo "$passed passed, $((failed + kept)) failed"
((passed && !failed && !kept))
