# shellcheck shell=bash
# What pg-config.sh and install-deps.sh know of PostgreSQL's versions. They source it.

# shellcheck disable=SC2034 # the callers use them
supported_majors=(19 18 17 16 15)
# shellcheck disable=SC2034
supported_range="${supported_majors[-1]} to ${supported_majors[0]}"

# Debian's client package has a pg_config and the makefiles of PGXS too, but not the server's headers.
has_headers() { [[ -e $("$1" --includedir-server 2>/dev/null)/postgres.h ]]; }
has_server() { [[ -x $("$1" --bindir 2>/dev/null)/initdb ]]; }
