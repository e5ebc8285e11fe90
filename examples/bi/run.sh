#!/usr/bin/env bash
# BI tools over a protected table: a dashboard of Cube, and Adminer.
#   run.sh          install what is missing, make a private cluster in ./.bi with the table, and serve the page until Ctrl-C
#   run.sh adminer  do so, and serve Adminer in place of the page
#   run.sh test     look at both on a throwaway cluster, in headless Chromium, and check what was charged.
#                   The last line is "N passed, N failed". PICTURE=FILE.png and ADMINER_PICTURE=FILE.png keep pictures
#   run.sh reached  fails if npm's registry does not answer within half a minute
#   run.sh clean    stop and remove the private cluster
# PORT: the port of the page, by default 4000, of Adminer 4001. INSTALLED=1: the packages and the extension are installed already.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck source=scripts/errors.sh disable=SC1091
source "$tree/scripts/errors.sh"
mode=${1:-serve}
require_known mode 'serve adminer test clean reached' "$mode"

# Node.js knows the certificate authorities that were built into it, and not those of the system.
if [[ -z ${NODE_EXTRA_CA_CERTS:-} && -r /etc/ssl/certs/ca-certificates.crt ]]; then
  export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
fi

# More than a thousand files come from npm. What has come is in its cache, so that a second try asks for the rest only.
install_cube() {
  local most=120 try status
  for try in 1 2; do
    echo "Installing Cube from npm (a quarter of a minute, at most $most s)"
    status=0
    timeout --foreground -s KILL "$most" npm --prefix "$here" ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 \
      --fetch-timeout=30000 --loglevel=error </dev/null >/dev/null || status=$?
    ((status)) || return 0
    if ((status == 137)); then echo "npm had not ended after $most s" >&2; else echo "npm ended with status $status" >&2; fi
  done
  die "Cube could not be installed from npm: is its registry reached?"
}

install_all() {
  local group=bi
  if [[ $mode != serve ]]; then group=bi-$mode; fi
  if [[ -z ${INSTALLED:-} ]]; then
    "$tree/scripts/install-deps.sh" "$group"
    echo "Building and installing the extension (may take a few minutes)"
    "$tree/scripts/install-extension.sh"
  fi
  if [[ $mode != adminer && ! -e $here/node_modules/.package-lock.json ]]; then install_cube; fi
}

# Kept answers need the library preloaded.
start_server() {
  cluster_start "$cluster"
  cluster_psql "$cluster" -X -q -U postgres -d postgres -c "ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'"
  cluster_stop "$cluster"
  cluster_start "$cluster"
}

make_table() {
  # A cluster of an earlier run keeps its table, and what was charged.
  if [[ $(cluster_psql "$cluster" -XAt -U postgres -d postgres -c "SELECT count(*) FROM pg_database WHERE datname = 'clinic'") == 0 ]]; then
    cluster_psql "$cluster" -X -q -U postgres -d postgres -f - <"$here/visits.sql"
  fi
  CUBEJS_DB_HOST=$(cluster_socket "$cluster")
  export CUBEJS_DB_HOST CUBEJS_DB_PORT=5432
}

if [[ $mode == reached ]]; then
  timeout 30 npm ping --fetch-retries=0 --loglevel=error >/dev/null || exit 1
  exit
fi
if [[ $mode == clean ]]; then
  # shellcheck source=scripts/cluster.sh disable=SC1091
  source "$tree/scripts/cluster.sh"
  cluster_remove "$tree/.bi"
  exit
fi
install_all
# shellcheck source=scripts/cluster.sh disable=SC1091
source "$tree/scripts/cluster.sh"
cluster=$tree/.bi
if [[ $mode == test ]]; then
  work=$(mktemp -d "${TMPDIR:-/tmp}/dpquantile-bi-XXXXXX")
  chmod 755 "$work"
  trap 'cluster_remove "$work/cluster"; rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  cluster=$work/cluster
fi
start_server
make_table
cd "$here"
case $mode in
  serve) exec node server.js ;;
  adminer)
    address=127.0.0.1:${PORT:-4001}
    echo "http://$address/?pgsql=$CUBEJS_DB_HOST&username=dashboard&db=clinic&ns=public (any password)"
    as_owner php -S "$address" /etc/adminer/conf.php 2>/dev/null
    ;;
  test) node test.js ;;
esac
