#!/usr/bin/env bash
# Installs the missing Debian packages of a task:
#   install-deps.sh build|demo|test|fuzz|bench|clients|bi|bi-adminer|bi-test|chroot
# PG_CONFIG chooses another PostgreSQL to use, PG_MAJOR another version to use or install. Otherwise an installed one is used,
# and if there is none, the newest that the package sources have is installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/errors.sh
source scripts/errors.sh
# shellcheck source=scripts/servers.sh
source scripts/servers.sh

group=${1:-}
packages=(g++ make libssl-dev libboost-dev)
case $group in
  build | demo) ;;
  bench) packages+=(python3-psycopg2 python3-sklearn) ;;
  fuzz) packages+=(clang libclang-rt-dev) ;;
  chroot) packages=(debootstrap) ;;
  test) packages+=(libgtest-dev libipc-run-perl clang clang-format libclang-rt-dev patch python3-psycopg python3-psycopg2) ;;
  clients)
    packages+=(python3-psycopg python3-psycopg2 python3-sqlalchemy python3-pandas libpostgresql-jdbc-java
      default-jdk-headless odbc-postgresql python3-pyodbc r-cran-rpostgresql pgbouncer pgcli)
    # A Node.js that is not Debian's comes with npm, and node-pg does not go with it.
    command -v npm >/dev/null || packages+=(node-pg)
    ;;
  bi | bi-adminer | bi-test)
    if [[ $group != bi-adminer ]] && ! command -v npm >/dev/null; then packages+=(nodejs npm); fi
    if [[ $group != bi ]]; then packages+=(adminer php-cli php-pgsql); fi
    if [[ $group == bi-test ]]; then packages+=(chromium); fi
    ;;
  *) die "usage: $0 build|demo|test|fuzz|bench|clients|bi|bi-adminer|bi-test|chroot" ;;
esac

pg_config=$(scripts/pg-config.sh)
is_foreign() { has_server "$pg_config" && [[ $pg_config != /usr/lib/postgresql/* ]]; }
needs_server() { [[ ! $group =~ ^(build|fuzz|chroot)$ ]] && ! has_server "$pg_config"; }
if ! command -v dpkg-query >/dev/null; then
  [[ $group == chroot ]] || has_headers "$pg_config" ||
    die "There are no headers of a PostgreSQL server. PG_CONFIG=/path/to/pg_config chooses one."
  echo "Not a Debian system. Assuming that these packages are installed: ${packages[*]}" >&2
  exit 0
fi

as_root=()
log=$(mktemp)
temporary_files=()
cleanup() {
  rm -f "$log"
  if ((${#temporary_files[@]})); then "${as_root[@]}" rm -f "${temporary_files[@]}"; fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" \
    >>"$log" 2>&1 </dev/null
}

# become_root PACKAGE...: lets apt work as root, to install these packages
become_root() {
  ((EUID)) || return 0
  command -v sudo >/dev/null || die "These packages are missing, and only root or sudo can install them:
  apt-get install $*"
  as_root=(sudo)
  sudo true
}

in_sources() { [[ -n $(apt-cache --quiet=2 show "$1" 2>/dev/null) ]]; }
newest_in_sources() {
  local major
  for major in "${supported_majors[@]}"; do
    if in_sources "postgresql-server-dev-$major"; then
      echo "$major"
      return
    fi
  done
  return 1
}

# The version that is installed, the wanted one, or the newest there is
choose_major() {
  if has_headers "$pg_config" || has_server "$pg_config"; then
    major=$("$pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
  elif [[ -n ${PG_MAJOR:-} ]]; then
    major=$PG_MAJOR
  elif ! major=$(newest_in_sources); then
    become_root 'postgresql-server-dev-all'
    apt update || cat "$log" >&2
    major=$(newest_in_sources) ||
      die "The package sources have no PostgreSQL $supported_range. PG_CONFIG=/path/to/pg_config chooses one that is no package."
  fi
}

add_postgresql() {
  choose_major
  has_headers "$pg_config" || packages+=("postgresql-server-dev-$major")
  if needs_server; then packages+=("postgresql-$major"); fi
  # Since 18 the server's JIT compiler is a package of its own.
  if [[ $group == test ]] && ! is_foreign && in_sources "postgresql-$major-jit"; then packages+=("postgresql-$major-jit"); fi
}

if [[ $group != chroot ]]; then add_postgresql; fi
if [[ $group == bench ]]; then packages+=("postgresql-$major-tdigest" valgrind); fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done

# make_temporarily FILE MODE LINE...: makes a file for as long as this script runs. An existing one stays as it is.
make_temporarily() {
  [[ ! -e $1 ]] || return 0
  "${as_root[@]}" mkdir -p "${1%/*}"
  temporary_files+=("$1")
  printf '%s\n' "${@:3}" | "${as_root[@]}" tee "$1" >/dev/null
  "${as_root[@]}" chmod "$2" "$1"
}

# The server's package would start its own cluster on port 5432, and pgbouncer's its service.
prevent_servers() {
  if needs_server; then
    make_temporarily /etc/postgresql-common/createcluster.d/dpquantile.conf 644 'create_main_cluster = false'
  fi
  if [[ " ${missing[*]} " == *" pgbouncer "* ]]; then make_temporarily /usr/sbin/policy-rc.d 755 '#!/bin/sh' 'exit 101'; fi
}

install() { apt install -y --no-install-recommends "${missing[@]}"; }

install_missing() {
  become_root "${missing[@]}"
  echo "Installing ${missing[*]} (may take a few minutes)"
  prevent_servers
  apt install --simulate "${missing[@]}" || apt update || true
  if ! install && ! { apt update && install; }; then
    cat "$log" >&2
    die "Could not install: ${missing[*]}. PG_MAJOR chooses another version of PostgreSQL."
  fi
}

if ((${#missing[@]})); then install_missing; fi
[[ $group != chroot ]] || exit 0
pg_config=$(scripts/pg-config.sh)
has_headers "$pg_config" || die "There are no server headers of PG_CONFIG=$pg_config."
