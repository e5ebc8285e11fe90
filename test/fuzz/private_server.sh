#!/usr/bin/env bash
# private_server.sh DIR LIBRARY: makes a copy of the server of PG_CONFIG below DIR, with LIBRARY as its dpquantile, and prints
# its pg_config. Programs are copied, because a server looks for its directories from where its program is; everything else is
# linked. The library of the fuzzer is never in the directories of the server itself.
set -euo pipefail

directory=$1
library=$2
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PG_CONFIG=$("$tree/scripts/pg-config.sh")
programs=$("$PG_CONFIG" --bindir)
libraries=$("$PG_CONFIG" --pkglibdir)
share=$("$PG_CONFIG" --sharedir)

mkdir -p "$directory$programs" "$directory$libraries" "$directory$share"
cp -L "$programs"/* "$directory$programs/"
cp -as "$libraries/." "$directory$libraries/"
cp -as "$share/." "$directory$share/"
rm -rf "$directory$libraries"/{dpquantile.so,bitcode/dpquantile*} "$directory$share"/extension/dpquantile*
cp "$library" "$directory$libraries/dpquantile.so"
cp "$tree/dpquantile.control" "$tree"/src/sql/*.sql "$directory$share/extension/"
chmod -R a+rX "$directory"
echo "$directory$programs/pg_config"
