# shellcheck shell=bash
# The benchmarks source this in the project's directory: a temporary server with the extension.
unset MAKEFLAGS MFLAGS MAKELEVEL

as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }

# Builds and installs the extension, and builds the programs $@.
build() {
  make -s all "$@" >/dev/null
  as_root make -s install >/dev/null
}

work=$(mktemp -d /tmp/dpquantile-bench-XXXXXX)
chmod 755 "$work"
finish() {
  scripts/cluster.sh remove "$work/cluster" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

# shellcheck disable=SC2120 # the benchmarks pass arguments
query() {
  scripts/cluster.sh psql "$work/cluster" -U postgres -d postgres -X -q -v ON_ERROR_STOP=1 "$@"
}

restart_server() {
  scripts/cluster.sh stop "$work/cluster" >/dev/null
  scripts/cluster.sh start "$work/cluster" >/dev/null
}

start_server() {
  scripts/cluster.sh start "$work/cluster" >/dev/null
  # shellcheck disable=SC2119
  query <<SQL
ALTER SYSTEM SET shared_buffers = '1GB';
ALTER SYSTEM SET max_wal_size = '4GB';
ALTER SYSTEM SET checkpoint_timeout = '1h';
SQL
  restart_server
}

# As docs/operations.md recommends.
preload_library() {
  query <<<"ALTER SYSTEM SET shared_preload_libraries = 'dpquantile'"
  restart_server
}
