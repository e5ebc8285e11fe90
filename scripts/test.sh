#!/usr/bin/env bash
# Builds a copy of the tree, installs it and runs every test on throwaway clusters. Everything except
# the installation runs as an unprivileged user. Suites that wait for a server run beside suites that
# only compute. The last line is "N passed, N failed".
# SUITES: the suites to run, for example "build install regress"; all but tap-sessions and bi by default. Suites that need the extension
# build it. tap-sessions repeats tap-preloaded without the library preloaded; .ci/run and make matrix run both. bi is make bi-test, which takes
# Cube from npm; .ci/run runs it.
# The suite distributed needs Citus. By default it is left out where Citus is not installed.
# PRELUDE=no: the suite build compiles without precompiled headers, and finds a missing #include (Makefile).
# CITUS_STATUS: a file that another process makes when it has tried to install Citus.
# SUITE_TIMEOUT: the number of seconds after which a suite fails.
# test.sh --list prints the names of the suites.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/errors.sh
source "$tree/scripts/errors.sh"

all_suites=(build install rooms version-names format regress isolation regress-preloaded isolation-preloaded tap small-clients
  tap-preloaded tap-sessions neighbours messages distributed bi unit privacy exhaustive fuzz)
if [[ ${1:-} == --list ]]; then
  echo "${all_suites[*]}"
  exit
fi
mapfile -t default_suites < <(printf '%s\n' "${all_suites[@]}" | grep -vxE 'tap-sessions|bi')
read -ra wanted_suites <<<"${SUITES:-${default_suites[*]}}"
require_known suite "${all_suites[*]}" "${wanted_suites[@]}"

# Whether one of these suites is to be run
wanted() {
  local name
  for name in "$@"; do
    if [[ " ${wanted_suites[*]} " == *" $name "* ]]; then return 0; fi
  done
  return 1
}
server_suites=(regress isolation regress-preloaded isolation-preloaded tap small-clients tap-preloaded tap-sessions neighbours messages
  distributed bi)
if wanted install "${server_suites[@]}"; then wanted_suites+=(build install); fi

"$tree/scripts/install-deps.sh" test
# shellcheck source=scripts/cluster.sh
source "$tree/scripts/cluster.sh"
# shellcheck source=scripts/process-group.sh
source "$tree/scripts/process-group.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
suite_timeout=${SUITE_TIMEOUT:-1800}

as_root=()
if [[ ! -w $("$PG_CONFIG" --pkglibdir) ]] && command -v sudo >/dev/null; then
  as_root=(sudo)
  # Ask for the password now: suites have no terminal.
  sudo -v || true
fi

work=$(mktemp -d /tmp/dpquantile-test-XXXXXX)
copy=$work/tree
logs=$work/logs
totals=$work/totals
lanes=()
lane_names=()

# The number of tests that passed (1) or failed (2) in all suites so far.
total() { awk -v column="$1" '{ sum += $column } END { print sum + 0 }' "$totals"; }

cleanup() {
  trap '' INT TERM HUP PIPE
  end_process_group
  if ((${#lanes[@]})); then kill "${lanes[@]}" 2>/dev/null || true; fi
  wait
  end_servers_in "$work" || true
  if (($(total 2))); then
    find "$work" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf {} +
  else
    rm -rf "$work"
  fi
}
: >"$totals"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP PIPE

# The tests run in a copy because the unprivileged user may have no access to the tree.
mkdir "$copy" "$logs" "$work/tmp"
if ((EUID == 0)); then chown -R "$owner:" "$work"; fi
"$tree/scripts/pack-tree.sh" | as_owner tar -C "$copy" -xf -

unprivileged() { as_owner env TMPDIR="$work/tmp" timeout -k 10 --foreground "$suite_timeout" "$@"; }

not_run() {
  echo "Not run: $1"
  return 1
}

matches() { grep -acE "$@" "$log" || true; }

# These functions set passed and failed from a suite's log and exit status. They read both formats of
# pg_regress: the one before PostgreSQL 16 and the one since.
count_status() { if ((status)); then failed=1; else passed=1; fi; }
count_gtest() {
  passed=$(matches '\[       OK \] ')
  failed=$(matches '\[  FAILED  \].*\([0-9]+ ms\)$')
}
count_regress() {
  passed=$(matches '\.\.\. ok |^ok [0-9]')
  failed=$(matches '\.\.\. FAILED |^not ok [0-9]')
}
count_tap() {
  passed=$(grep -aE '^ok [0-9]' "$log" | grep -avciE '# (skip|todo)' || true)
  failed=$(grep -aE '^not ok [0-9]' "$log" | grep -avci '# todo' || true)
  # A file that died may have no failed assertion: it counts as one failure.
  failed=$((failed + $(matches '\(Wstat: .* Failed: 0\)$')))
}

# Its last line is "N passed, N failed".
count_sum() {
  read -r passed _ failed _ < <(tail -n 1 "$log" | grep -aE '^[0-9]+ passed, [0-9]+ failed$' || echo 0 - 1)
}

show() {
  [[ -s $1 ]] || return 0
  echo "--- the end of $(basename "$1")"
  tail -n 150 "$1"
}

# Prints the other files that show why a suite failed, and keeps them among the logs.
show_evidence() {
  local file
  local files=("$copy/regression.diffs" "$copy/output_iso/regression.diffs")
  # prove lists the files that failed. Each of them has its own log.
  while read -r file; do
    files+=("$copy/tmp_check/log/regress_log_$file")
  done < <(sed -nE 's|^test/t/(.*)\.pl +\(Wstat.*|\1|p' "$log")
  for file in "${files[@]}"; do
    [[ -s $file ]] || continue
    show "$file"
    mv "$file" "$logs/$suite-$(basename "$file")"
  done
  # TAP tests have their own clusters.
  if [[ $copy == "$work/sql" ]]; then grep -asE 'PANIC|terminated by signal|TRAP' "$work/cluster/log" || true; fi
}

report() {
  if ((failed)); then
    show "$log"
    show_evidence
    echo "--- end of $suite"
  fi
  printf '%-19s%5d passed, %d failed, %d s\n' "$suite" "$passed" "$failed" $((SECONDS - start))
}

# suite NAME EXPECTED COUNTER COMMAND...: runs a suite of at least EXPECTED cases, if it is wanted. The functions that
# it calls use its variables, and $copy, the tree of its lane.
suite() {
  wanted "$1" || return 0
  local suite=$1 expected=$2 counter=$3 log=$logs/$1.log
  local passed=0 failed=0 status=0 start=$SECONDS
  shift 3
  if ((expected)); then
    run_in_group "$@" >"$log" 2>&1
    "$counter"
    if ((status == 124)); then
      echo "Stopped after $suite_timeout s; SUITE_TIMEOUT sets another limit" >>"$log"
      failed=$((failed + 1))
    fi
  else
    echo "There are no tests." >"$log"
    status=1
  fi
  if ((passed + failed < expected)); then failed=$((expected - passed)); fi
  if ((status && !failed)); then failed=1; fi
  echo "$passed $failed" >>"$totals"
  report >"$work/$suite.report"
  # The lock keeps the report in one piece.
  flock "$totals" cat "$work/$suite.report"
  ((!failed))
}

# The number of arguments that are existing files
files() {
  local file number=0
  for file in "$@"; do
    if [[ -f $file ]]; then number=$((number + 1)); fi
  done
  echo "$number"
}
# At least one case if there are files
gtest_expected() { if (($(files "$@"))); then echo 1; else echo 0; fi; }

# lane FUNCTION SUITE...: FUNCTION runs these suites one after the other, beside the other lanes. A lane has its own
# process group: only this script receives a Ctrl-C, and it then ends its lanes.
lane() {
  wanted "${@:2}" || return 0
  set -m
  (
    set +m
    trap end_process_group EXIT
    trap 'exit 143' TERM
    "$1"
  ) &
  lanes+=("$!")
  lane_names+=("$1")
  set +m
}

wait_for_lanes() {
  local i
  for i in "${!lanes[@]}"; do
    wait "${lanes[i]}" && continue
    echo "Some of the ${lane_names[i]} were not run"
    echo '0 1' >>"$totals"
  done
  lanes=()
}

# These suites only compute. They run with nice, so that suites whose servers and sessions wait for each
# other go first.
gtest_suites() {
  local make=(unprivileged nice make -C "$copy" CI=1 DEBUG_INFO=-g0 -j"$(nproc)")
  suite unit "$(gtest_expected "$copy"/test/unit/*/*.cpp)" count_gtest "${make[@]}" unit || true
  suite privacy "$(gtest_expected "$copy"/test/privacy/*.cpp)" count_gtest "${make[@]}" privacy || true
  suite exhaustive "$(files "$copy"/test/exhaustive/main.cpp)" count_sum "${make[@]}" --no-print-directory exhaustive || true
}

# The corpora and changed inputs, with the objects of the unit tests, which see no server. make fuzz runs for longer, and sees which
# lines an input reaches.
fuzz_suite() {
  if wanted unit; then until [[ -e $work/unit.report ]]; do sleep 2; done; fi
  suite fuzz 1 count_sum unprivileged nice make --no-print-directory -C "$copy" CI=1 COVERAGE=no SECONDS_IN_ALL=20 fuzz || true
}

not_installed=(not_run "the extension could not be built and installed")

# tap_suite NAME EXPECTED [ARGUMENT...]: runs the TAP tests, with these arguments of make. Each test has
# its own cluster.
tap_suite() {
  local name=$1 expected=$2 check=("${not_installed[@]}")
  shift 2
  if $installed; then
    check=(unprivileged make -C "$copy" installcheck REGRESS= ISOLATION= TAP_TESTS=1
      PROVE_FLAGS='--verbose --timer')
  fi
  suite "$name" "$expected" count_tap "${check[@]}" "$@" || true
}

# The files of test/t whose rule depends on who makes the charges: resident workers if the library is preloaded, otherwise session
# workers. The other files choose for themselves.
charge_files=(archive cancel crash locks parallel plans race replication restore restricted_calls restricted_facts
  restricted_messages restricted_undo roles rollback standby table_budgets tables versions workers)

tap_suites() {
  local copy=$work/tap file others=()
  for file in "$copy"/test/t/*.pl; do
    if [[ " ${charge_files[*]} " != *" $(basename "$file" .pl) "* ]]; then others+=("test/t/$(basename "$file")"); fi
  done
  tap_suite tap "${#others[@]}" PROVE_TESTS="${others[*]}"
  # make clients also runs the drivers whose packages are large.
  local check=("${not_installed[@]}")
  if $installed; then check=(unprivileged env INSTALLED=1 "$copy/test/clients/run.sh" psql psycopg2 psycopg3); fi
  suite small-clients 1 count_sum "${check[@]}" || true
}

preload() {
  cluster_psql "$work/cluster" -U postgres -d postgres -X -q \
    -c "ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'"
  cluster_stop "$work/cluster"
  cluster_start "$work/cluster"
  [[ $(cluster_psql "$work/cluster" -U postgres -d postgres -X -A -t \
    -c "SELECT count(*) FROM pg_shmem_allocations WHERE name = 'dpquantile charges'") == 1 ]]
}

# The SQL tests of threats 1 to 17 run a second time, with resident workers that make the charges, and so do those of
# restricted roles.
sql_preloaded=(accountants aggregate_syntax archive budget cdf grouping_sets ledger lost_budget parameters prepared
  privileges release repeat rescans restricted_operations support_functions transactions user_charges window
  zcdp_queries)

sql_suites() {
  local copy=$work/sql check=("${not_installed[@]}")
  if $installed && ! (cluster_start "$work/cluster") >"$logs/cluster.log" 2>&1; then
    cat "$logs/cluster.log"
    check=(not_run "the cluster did not start")
  elif $installed; then
    check=(unprivileged env PGHOST="$(cluster_socket "$work/cluster")" PGPORT=5432 PGUSER=postgres
      make -C "$copy" installcheck)
  fi
  suite regress "$(files "$copy"/sql/*.sql)" count_regress "${check[@]}" ISOLATION= || true
  suite isolation "$(files "$copy"/test/isolation/specs/*.spec)" count_regress "${check[@]}" REGRESS= || true

  if wanted regress-preloaded isolation-preloaded && [[ ${check[0]} != not_run ]] && ! (preload) >>"$logs/cluster.log" 2>&1; then
    cat "$logs/cluster.log"
    check=(not_run "the cluster did not start with the library preloaded")
  fi
  suite regress-preloaded "${#sql_preloaded[@]}" count_regress \
    "${check[@]}" ISOLATION= REGRESS="${sql_preloaded[*]}" || true
  suite isolation-preloaded "$(files "$copy"/test/isolation/specs/*.spec)" count_regress "${check[@]}" REGRESS= || true

  # These suites are here because this lane would otherwise be the shortest.
  local charges
  charges=$(printf 'test/t/%s.pl ' "${charge_files[@]}")
  tap_suite tap-preloaded "${#charge_files[@]}" DPQ_PRELOADED=1 PROVE_TESTS="$charges"
  tap_suite tap-sessions "${#charge_files[@]}" DPQ_PRELOADED=0 PROVE_TESTS="$charges"
  neighbours_suite
  messages_suite
  distributed_suite
}

wait_for_citus() {
  local end=$((SECONDS + suite_timeout))
  [[ -n ${CITUS_STATUS:-} ]] || return 0
  until [[ -e $CITUS_STATUS ]] || ((SECONDS > end)); do sleep 2; done
}

# Three servers with Citus.
distributed_suite() {
  local copy=$work/sql check=("${not_installed[@]}")
  wanted distributed || return 0
  wait_for_citus
  if [[ ! -e $("$PG_CONFIG" --pkglibdir)/citus.so ]]; then
    if [[ -z ${SUITES:-}${CITUS_STATUS:-} ]]; then
      printf '%-19s  not run: there is no Citus for this PostgreSQL\n' distributed
      return 0
    fi
    check=(not_run "there is no Citus for this PostgreSQL")
  elif $installed; then
    check=(unprivileged make -C "$copy" installcheck REGRESS= ISOLATION= TAP_TESTS=1
      PROVE_FLAGS='--verbose --timer' PROVE_TESTS='test/distributed/*.pl')
  fi
  suite distributed "$(files "$copy"/test/distributed/*.pl)" count_tap "${check[@]}" || true
}

# A browser, PHP and Node.js are packages of this suite only. What cannot be installed is a failure.
bi_suite() {
  local check=("${not_installed[@]}")
  if $installed; then check=(unprivileged env INSTALLED=1 "$copy/examples/bi/run.sh" test); fi
  if $installed && ! "$tree/scripts/install-deps.sh" bi-test >"$logs/bi-packages.log" 2>&1; then
    cat "$logs/bi-packages.log"
    check=(not_run "the packages could not be installed")
  fi
  suite bi 1 count_sum "${check[@]}" || true
}

# A short run; the queries are the same each time. make neighbours runs it for longer.
neighbours_suite() {
  local copy=$work/sql queries=750 groupings=132 check=("${not_installed[@]}")
  if $installed; then check=(unprivileged make --no-print-directory -C "$copy" CI=1 neighbours QUERIES="$queries"); fi
  suite neighbours $((queries + groupings)) count_sum "${check[@]}" || true
}

messages_suite() {
  local copy=$work/sql check=("${not_installed[@]}")
  if $installed; then check=(unprivileged make --no-print-directory -C "$copy" CI=1 messages); fi
  suite messages 1000 count_sum "${check[@]}" || true
}

# shellcheck disable=SC2016 # make expands it
compiler=$(as_owner make -s -C "$copy" --eval='compiler: ; @$(CXX) --version' compiler | head -n 1)
echo "$("$PG_CONFIG" --version), $compiler"
make=(unprivileged make -C "$copy" CI=1 DEBUG_INFO=-g0 PRELUDE="${PRELUDE:-yes}")

installed=false
if suite build 1 count_status "${make[@]}" -j"$(nproc)" &&
  suite install 1 count_status "${as_root[@]}" make -C "$copy" PG_CONFIG="$PG_CONFIG" install; then
  installed=true
fi
suite rooms 1 count_tap unprivileged env -C "$copy" prove --verbose test/rooms test/mutants || true
suite version-names 1 count_tap unprivileged env -C "$copy" prove --verbose test/version_names || true
suite format 1 count_status "${make[@]}" format-check || true

# pg_regress and prove write their results into the current directory.
for directory in sql tap; do as_owner cp -a "$copy" "$work/$directory"; done
lane gtest_suites unit privacy exhaustive
lane fuzz_suite fuzz
lane sql_suites regress isolation regress-preloaded isolation-preloaded tap-preloaded tap-sessions neighbours messages distributed
lane tap_suites tap small-clients
lane bi_suite bi
wait_for_lanes

passed=$(total 1)
failed=$(total 2)
if ((failed)); then echo "The logs are in $logs"; fi
echo "$passed passed, $failed failed"
((passed && !failed))
