#!/usr/bin/env bash
# Runs one test of the extension as it is in this tree:
#   test-one.sh unit ROOM [FILTER]       unit tests of a room of src/core, without sanitizers
#   test-one.sh privacy FILTER           privacy tests whose names match, for example '*Cdf*'
#   test-one.sh regress NAME...          sql/NAME.sql against expected/NAME.out
#   test-one.sh isolation NAME...        test/isolation/specs/NAME.spec
#   test-one.sh tap NAME                 test/t/NAME.pl; DPQ_PRELOADED=1 preloads the library
#   test-one.sh distributed NAME         test/distributed/NAME.pl; needs Citus
# The last four build and install the extension, and run on throwaway clusters.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  sed -n '2,9s/^# \{0,1\}//p' scripts/test-one.sh >&2
  exit 2
}

kind=${1:-}
(($# >= 2)) || usage
shift
scripts/install-deps.sh test
# shellcheck source=scripts/cluster.sh
source scripts/cluster.sh
jobs=-j$(nproc)

run_gtest() {
  export GTEST_FILTER=$2 GTEST_BRIEF=1
  if ! "$1" --gtest_list_tests | grep '^  ' >/dev/null; then
    echo "No test matches $2. The suites are:" >&2
    "$1" --gtest_filter='*' --gtest_list_tests | grep -o '^[^ ]*\.' >&2
    exit 1
  fi
  "$1"
}

# $1: REGRESS or ISOLATION, then the names
run_on_cluster() {
  local variable=$1 other=ISOLATION
  shift
  if [[ $variable == ISOLATION ]]; then other=REGRESS; fi
  work=$(mktemp -d /tmp/dpquantile-one-XXXXXX)
  chmod 755 "$work"
  trap 'cluster_remove "$work/cluster"; rm -rf "$work"' EXIT
  cluster_start "$work/cluster"
  env PGHOST="$(cluster_socket "$work/cluster")" PGPORT=5432 PGUSER=postgres \
    make -s installcheck "$other=" "$variable=$*"
}

# $1: the directory and name of the test. PostgreSQL does not run as root, and its owner may not be able to write here.
run_tap() {
  work=$(mktemp -d /tmp/dpquantile-one-XXXXXX)
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/tree"
  scripts/pack-tree.sh | tar -C "$work/tree" -xf -
  if ((EUID == 0)); then chown -R "$owner:" "$work"; fi
  as_owner env DPQ_PRELOADED="${DPQ_PRELOADED:-0}" make -s -C "$work/tree" installcheck REGRESS= ISOLATION= \
    TAP_TESTS=1 PROVE_TESTS="test/$1.pl" PROVE_FLAGS=--verbose
}

case $kind in
  unit)
    make -s "$jobs" ".build/test/quick/$1/run" ROOM="$1"
    run_gtest ".build/test/quick/$1/run" "${2:-*}"
    ;;
  privacy)
    make -s "$jobs" .build/test/privacy/run
    run_gtest .build/test/privacy/run "$1"
    ;;
  regress | isolation)
    scripts/install-extension.sh
    run_on_cluster "${kind^^}" "$@"
    ;;
  tap)
    scripts/install-extension.sh
    run_tap "t/$1"
    ;;
  distributed)
    scripts/install-extension.sh
    run_tap "distributed/$1"
    ;;
  *) usage ;;
esac
