#!/usr/bin/env bash
# Shows dpquantile at work on a private cluster in ./.demo:
#   demo.sh             install what is missing, build, create the cluster, run scripts/demo.sql
#   demo.sh psql ROLE   psql on it
#   demo.sh clean       stop and remove it
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cluster=$tree/.demo

# The server of the demo's cluster, which may be another one than a new demo would have
server_of_demo() { sed 's/ "-.*//' "$cluster/data/postmaster.opts"; }

if [[ ${1:-run} == run ]]; then
  "$tree/scripts/install-deps.sh" demo
elif [[ -r $cluster/data/postmaster.opts ]]; then
  PG_CONFIG=$(dirname "$(server_of_demo)")/pg_config
  export PG_CONFIG
fi
# shellcheck source=scripts/cluster.sh
source "$tree/scripts/cluster.sh"

# Runs a command whose output matters only when it fails.
quietly() {
  local output
  output=$("$@" 2>&1 </dev/null) || die "$output"
}

run() {
  echo "Building and installing the extension for $("$PG_CONFIG" --version) (may take a few minutes)"
  quietly "$tree/scripts/install-extension.sh"
  echo "Starting a private cluster in $cluster"
  cluster_start "$cluster"
  # Errors are part of the demo, their line numbers are not.
  cluster_psql "$cluster" -X -q -U postgres -d postgres -v svg="$cluster/salaries.svg" -f - \
    <"$tree/scripts/demo.sql" 2>&1 |
    sed -u 's/^psql:<stdin>:[0-9]*: //'
  cat <<END
Try it:   make psql                  psql on this database as analyst
          make psql ROLE=postgres    the same as its owner
Remove:   make demo-clean
END
}

case ${1:-run} in
  run) run ;;
  psql)
    [[ -e $cluster ]] || die "There is no demo yet: run make demo first."
    cluster_start "$cluster"
    cluster_psql "$cluster" -U "${2:-analyst}" -d demo
    ;;
  clean)
    rm -f "$cluster/salaries.svg"
    cluster_remove "$cluster"
    ;;
  *) die "usage: $0 [psql ROLE | clean]" ;;
esac
