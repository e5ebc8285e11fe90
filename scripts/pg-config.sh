#!/usr/bin/env bash
# Prints the pg_config of the PostgreSQL to use, or nothing if none is installed. This is:
#   that of PG_CONFIG, or of version PG_MAJOR, if given;
#   that in PATH, if it is not the one in /usr/bin, which knows only the newest of Debian's versions;
#   the newest of Debian's, preferably with both its server and its headers;
#   that in /usr/bin.
set -euo pipefail

# shellcheck source=scripts/servers.sh
source "$(dirname "${BASH_SOURCE[0]}")/servers.sh"
complete() { has_headers "$1" && has_server "$1"; }
# of_version PG_CONFIG MAJOR...: whether it is one of these versions
of_version() {
  local major
  major=$("$1" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
  [[ -n $major && " ${*:2} " == *" $major "* ]]
}

debian() { echo "/usr/lib/postgresql/$1/bin/pg_config"; }

# newest_debian TEST: the newest of Debian's that passes the test
newest_debian() {
  local major candidate
  for major in "${supported_majors[@]}"; do
    candidate=$(debian "$major")
    if "$1" "$candidate"; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

in_path=$(command -v pg_config || true)
if [[ -n ${PG_CONFIG:-} ]]; then
  echo "$PG_CONFIG"
elif [[ -n ${PG_MAJOR:-} ]]; then
  if [[ -n $in_path && $in_path != /usr/bin/* ]] && of_version "$in_path" "$PG_MAJOR"; then
    echo "$in_path"
  else
    debian "$PG_MAJOR"
  fi
elif [[ -n $in_path && $in_path != /usr/bin/* ]] && has_headers "$in_path" && of_version "$in_path" "${supported_majors[@]}"; then
  echo "$in_path"
else
  newest_debian complete || newest_debian has_headers || newest_debian has_server || echo "$in_path"
fi
