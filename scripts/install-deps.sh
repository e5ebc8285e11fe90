#!/usr/bin/env bash
# Installs the missing Debian packages of a task:
#   install-deps.sh build|demo|test|bench|clients
# PG_CONFIG chooses another PostgreSQL to use, PG_MAJOR another version to install (15 to 18).
set -euo pipefail

pg_config=${PG_CONFIG:-$(command -v pg_config || echo /usr/lib/postgresql/15/bin/pg_config)}

# Debian's client package has the makefiles of PGXS, but not the server's headers.
has_headers() { [[ -e $("$pg_config" --includedir-server 2>/dev/null)/postgres.h ]]; }
has_server() { has_headers && [[ -x $("$pg_config" --bindir)/initdb ]]; }

if has_headers; then
  installed_major=$("$pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
fi
major=${PG_MAJOR:-${installed_major:-15}}

group=${1:-}
packages=(g++ make libssl-dev libboost-dev)
has_headers || packages+=("postgresql-server-dev-$major")
if [[ $group != build ]]; then
  has_server || packages+=("postgresql-$major")
fi
case $group in
  build | demo) ;;
  test) packages+=(libgtest-dev libipc-run-perl clang-format python3-psycopg python3-psycopg2) ;;
  clients)
    packages+=(python3-psycopg python3-psycopg2 python3-sqlalchemy python3-pandas libpostgresql-jdbc-java
      default-jdk-headless odbc-postgresql python3-pyodbc r-cran-rpostgresql pgbouncer pgcli)
    # A Node.js that is not Debian's comes with npm, and node-pg does not go with it.
    command -v npm >/dev/null || packages+=(node-pg)
    ;;
  bench) packages+=("postgresql-$major-tdigest" valgrind) ;;
  *)
    echo "usage: $0 build|demo|test|bench|clients" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "Not a Debian system. Assuming that these packages are installed: ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing, and only root or sudo can install them:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
# The server's package would start its own cluster on port 5432.
no_cluster=/etc/postgresql-common/createcluster.d/dpquantile.conf
# pgbouncer's package would start its service.
no_service=
cleanup() {
  rm -f "$log"
  if [[ -n $no_service ]]; then "${as_root[@]}" rm -f "$no_service"; fi
  if [[ -e $no_cluster ]]; then "${as_root[@]}" rm -f "$no_cluster"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" \
    >>"$log" 2>&1 </dev/null
}
install() { apt install -y --no-install-recommends "${missing[@]}"; }

echo "Installing ${missing[*]} (may take a few minutes)"
"${as_root[@]}" true
if [[ " ${missing[*]} " == *" postgresql-$major "* ]]; then
  "${as_root[@]}" mkdir -p "${no_cluster%/*}"
  echo 'create_main_cluster = false' | "${as_root[@]}" tee "$no_cluster" >/dev/null
fi
if [[ " ${missing[*]} " == *" pgbouncer "* && ! -e /usr/sbin/policy-rc.d ]]; then
  no_service=/usr/sbin/policy-rc.d
  printf '%s\n' '#!/bin/sh' 'exit 101' | "${as_root[@]}" tee "$no_service" >/dev/null
  "${as_root[@]}" chmod 755 "$no_service"
fi
apt install --simulate "${missing[@]}" || apt update || true
if ! install && ! { apt update && install; }; then
  cat "$log" >&2
  echo "Could not install: ${missing[*]}. PG_MAJOR chooses another version of PostgreSQL." >&2
  exit 1
fi
