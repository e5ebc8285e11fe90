#!/usr/bin/env bash
# A private PostgreSQL cluster in a directory. It has a unix socket only, and an unprivileged user
# (postgres) runs it even if root calls this script. Call it, or source it for its functions:
#   cluster.sh start DIR                    create it if necessary, and start it
#   cluster.sh psql DIR [ARGUMENT...]       psql on it
#   cluster.sh stop DIR
#   cluster.sh remove DIR                   stop it and delete its data
set -euo pipefail

# shellcheck source=scripts/errors.sh
source "$(dirname "${BASH_SOURCE[0]}")/errors.sh"
PG_CONFIG=$("$(dirname "${BASH_SOURCE[0]}")/pg-config.sh")
export PG_CONFIG

# The caller's PGPORT, PGDATA and the like refer to another server.
for variable in "${!PG@}"; do
  [[ $variable == PG_* ]] || unset "$variable"
done

if ((EUID == 0)); then owner=postgres; else owner=$(id -un); fi

# Runs a command as the unprivileged user, in a directory that this user can enter.
as_owner() {
  if ((EUID != 0)); then
    (cd / && exec "$@")
    return
  fi
  local home
  home=$(getent passwd "$owner" | cut -d: -f6) || true
  [[ -n $home ]] || die "PostgreSQL does not run as root, and there is no user $owner."
  (cd / && exec setpriv --reuid="$owner" --regid="$(id -g "$owner")" --init-groups \
    env HOME="$home" USER="$owner" LOGNAME="$owner" "$@")
}

bin() { echo "$("$PG_CONFIG" --bindir)/$1"; }

# Prints the server processes of every data directory at or below $1. A server's working directory
# is its data directory. Root in a container may have no right to see it; the server's owner has.
servers_in() {
  local process name directory
  local directories=()
  for process in /proc/[0-9]*; do
    { read -r name <"$process/comm"; } 2>/dev/null || continue
    if [[ $name == postgres ]]; then directories+=("$process/cwd"); fi
  done
  ((${#directories[@]})) || return 0
  # One process for all of them. Some may have ended.
  { as_owner find "${directories[@]}" -maxdepth 0 -printf '%p %l\n' 2>/dev/null || true; } |
    while read -r process directory; do
      directory=${directory% (deleted)}
      if [[ $directory == "$1" || $directory == "$1"/* ]]; then basename "${process%/cwd}"; fi
    done
}

# Waits until no server process is left at or below $1, for at most $2 tenths of a second.
wait_for_end_in() {
  local try
  for ((try = 0; try < $2; try++)); do
    [[ -n $(servers_in "$1") ]] || return 0
    sleep 0.1
  done
  return 1
}

# Ends every server process at or below $1, gently first.
end_servers_in() {
  local signal
  for signal in INT QUIT KILL; do
    # shellcheck disable=SC2046 # one word a process
    kill -s "$signal" $(servers_in "$1") 2>/dev/null || true
    if wait_for_end_in "$1" 50; then return 0; fi
  done
  return 1
}

# Makes the directory $1. If the owner cannot reach it, makes a link to a directory that he can reach.
make_directory() {
  local directory=$1 parent target
  parent=$(cd "$(dirname "$directory")" && pwd -P)
  directory=$parent/$(basename "$directory")
  if [[ ! -e $directory && ! -L $directory ]]; then
    if as_owner test -x "$parent"; then
      mkdir -m 700 "$directory"
      if ((EUID == 0)); then chown -h "$owner:" "$directory"; fi
    else
      target=/var/tmp/dpquantile-$(printf %s "$directory" | sha256sum | cut -c1-12)
      echo "User $owner cannot reach $parent: the cluster is in $target"
      ln -s "$target" "$directory"
    fi
  fi
  if [[ -L $directory ]]; then
    target=$(readlink "$directory")
    [[ -e $directory ]] || as_owner mkdir -m 700 "$target"
    [[ ! -L $target ]] || die "$target is a link; please remove it."
  fi
  [[ $(stat -L -c %U "$directory") == "$owner" ]] ||
    die "$directory does not belong to $owner: was it made by another user?"
}

remove_socket_directory() {
  if [[ -L $1/socket ]]; then as_owner rm -rf "$(readlink "$1/socket")"; fi
  as_owner rm -rf "$1/socket"
}

# The system allows about 100 bytes for a socket's path, and libpq allows no comma in it.
make_socket_directory() {
  local LC_ALL=C path=$1/socket/.s.PGSQL.5432
  remove_socket_directory "$1"
  if [[ ${#path} -le 100 && $path =~ ^[A-Za-z0-9/._-]+$ ]]; then
    as_owner mkdir -m 700 "$1/socket"
  else
    as_owner ln -s "$(as_owner mktemp -d /tmp/dpquantile-XXXXXX)" "$1/socket"
  fi
}

# The data directory gets its name when it is complete, so an interrupted run leaves no partial cluster.
initialise() {
  local output
  as_owner rm -rf "$1/data.new"
  output=$(as_owner "$(bin initdb)" -D "$1/data.new" -U postgres --auth-local=trust \
    --auth-host=reject --encoding=UTF8 --locale=C.UTF-8 --data-checksums --no-instructions \
    2>&1 </dev/null) || die "$output"
  echo "include = 'private.conf'" | as_owner tee -a "$1/data.new/postgresql.conf" >/dev/null
  as_owner mv "$1/data.new" "$1/data"
}

# Whether the server of data directory $1 runs. The pid alone may belong to another process by now.
is_running() {
  local pid
  pid=$(head -n 1 "$1/postmaster.pid" 2>/dev/null) || return 1
  [[ -n $pid && $(as_owner readlink "/proc/$pid/cwd") == "$1" ]]
}

cluster_socket() { readlink -f "$1/socket"; }

cluster_start() {
  local root data socket major
  [[ -x $(bin initdb) ]] || die "There is no PostgreSQL server in $("$PG_CONFIG" --bindir)."
  make_directory "$1"
  root=$(readlink -f "$1")
  data=$root/data
  [[ -e $data/PG_VERSION ]] || initialise "$root"
  major=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
  [[ $(<"$data/PG_VERSION") == "$major" ]] ||
    die "$1 was made by PostgreSQL $(<"$data/PG_VERSION"), this is $major: remove it first."

  if is_running "$data"; then
    if as_owner "$(bin pg_isready)" -q -t 60 -h "$(cluster_socket "$root")" -p 5432; then return; fi
    cluster_stop "$1"
  fi
  # The backends of a killed server end soon. Its pid file is certainly stale only after that.
  wait_for_end_in "$data" 100 || die "Processes of an earlier server still run in $data."
  rm -f "$data/postmaster.pid"

  make_socket_directory "$root"
  socket=$(cluster_socket "$root")
  as_owner tee "$data/private.conf" >/dev/null <<END
listen_addresses = ''
port = 5432
unix_socket_directories = '$socket'
END
  as_owner "$(bin pg_ctl)" start -s -w -t 120 -D "$data" -l "$root/log" </dev/null || {
    tail -n 30 "$root/log" >&2
    die "PostgreSQL did not start in $1"
  }
}

cluster_stop() {
  local root data
  root=$(readlink -f "$1")
  data=$root/data
  if is_running "$data"; then
    as_owner "$(bin pg_ctl)" stop -s -w -t 60 -m fast -D "$data" ||
      as_owner "$(bin pg_ctl)" stop -s -w -t 20 -m immediate -D "$data" || true
  fi
  end_servers_in "$data" || die "Could not stop the server in $1"
  remove_socket_directory "$root"
}

cluster_remove() {
  local root
  [[ -e $1 || -L $1 ]] || return 0
  root=$(readlink -f "$1")
  if [[ -d $root ]]; then
    cluster_stop "$1"
    rm -rf "$root"/{data,data.new,socket,log}
    rmdir "$root"
  fi
  if [[ -L $1 ]]; then rm "$1"; fi
}

cluster_psql() {
  local socket
  socket=$(cluster_socket "$1")
  shift
  "$(bin psql)" -h "$socket" -p 5432 "$@"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  if [[ ! ${1:-} =~ ^(start|psql|stop|remove)$ || -z ${2:-} ]]; then
    die "usage: $0 start|psql|stop|remove DIR"
  fi
  command=$1
  shift
  "cluster_$command" "$@"
fi
