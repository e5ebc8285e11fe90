#!/usr/bin/env bash
# Builds the extension in this tree and installs it for the server of PG_CONFIG. Only root may write to a packaged server's
# directories, so other users need sudo for these.
set -euo pipefail

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/errors.sh
source "$tree/scripts/errors.sh"
PG_CONFIG=$("$tree/scripts/pg-config.sh")
export PG_CONFIG
unset MAKEFLAGS MFLAGS MAKELEVEL
as_root=()
directory=$("$PG_CONFIG" --pkglibdir)
if [[ ! -w $directory ]]; then
  command -v sudo >/dev/null || die "Only root or sudo can install into $directory."
  as_root=(sudo)
fi
make -s -C "$tree" -j"$(nproc)" >/dev/null
"${as_root[@]}" make -s -C "$tree" PG_CONFIG="$PG_CONFIG" install >/dev/null
