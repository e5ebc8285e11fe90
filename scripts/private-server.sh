#!/usr/bin/env bash
# private-server.sh DIR LIBRARY: makes a copy of the server of PG_CONFIG below DIR, with LIBRARY as its dpquantile, and prints
# its pg_config. Programs are copied, because a server looks for its directories from where its program is; everything else is
# linked. LIBRARY is never in the directories of the server itself.
set -euo pipefail

directory=$1
library=$2
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
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
cp "$tree/dpquantile.control" "$directory$share/extension/"
"$tree/scripts/sql.sh" "$directory$share/extension"
# Headers and everything else are those of the server itself.
rm "$directory$programs/pg_config"
cat >"$directory$programs/pg_config" <<END
#!/bin/sh
'$PG_CONFIG' "\$@" | sed -e 's#$programs#$directory$programs#g' -e 's#$libraries#$directory$libraries#g' -e 's#$share#$directory$share#g'
END
chmod a+x "$directory$programs/pg_config"
chmod -R a+rX "$directory"
echo "$directory$programs/pg_config"
