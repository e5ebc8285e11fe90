#!/bin/sh
# sql.sh DIR [TREE]: writes the scripts of the extension into DIR, from src/sql of this tree or of another one:
#   dpquantile--VERSION.sql         begin, once, always: what CREATE EXTENSION runs
#   dpquantile--FROM--VERSION.sql   begin, updates, always: what ALTER EXTENSION UPDATE runs, for each earlier version that src/sql/updates
#                                   has a way from
# The table in src/sql/README.md says in which order the files come. It must name each of them.
set -eu

tree=${2:-$(dirname "$0")/..}
sql=$tree/src/sql
version=$(sh "$(dirname "$0")/version.sh" "$tree")
comment=$(sed -n 's/^comment *= *//p' "$tree/dpquantile.control")
mkdir -p "$1"
directory=$(cd "$1" && pwd)
cd "$sql"

die() {
  echo "$0: $1" >&2
  exit 1
}

ordered=$(sed -n 's/^| `\([a-z_/]*\.sql\)` .*/\1/p' README.md)
for file in $ordered; do
  [ -f "$file" ] || die "$sql has no $file, which README.md names"
done
for file in $(find . -name '*.sql' ! -path './updates/*' | sed 's|^\./||' | LC_ALL=C sort); do
  case " $(echo $ordered) " in
    *" $file "*) ;;
    *) die "$sql/README.md does not say when $file comes" ;;
  esac
done

# files FOLDER: its files in their order
files() {
  for file in $ordered; do
    case $file in "$1"*) echo "$file" ;; esac
  done
}

# write NAME STATEMENT FILE...
write() {
  target=$directory/$1
  statement=$2
  shift 2
  {
    printf '\\echo Use "%s" to load this file. \\quit\n' "$statement"
    for file; do
      printf '\n'
      cat "$file"
    done
  } >"$target.new"
  mv "$target.new" "$target"
}

# way FROM: the files in updates that lead from there to this version, one after the other
way() {
  at=$1
  while [ "$at" != "$version" ]; do
    step=
    for file in updates/"$at"--*.sql; do
      [ -f "$file" ] || die "there is no way from version $1 to $version: $sql/updates has no file for $at"
      [ -z "$step" ] || die "$sql/updates has several files for $at"
      step=$file
    done
    echo "$step"
    at=${step#"updates/$at--"}
    at=${at%.sql}
  done
}

write "dpquantile--$version.sql" 'CREATE EXTENSION dpquantile' begin.sql $(files once/) $(files always/)
for file in updates/*--*.sql; do
  [ -f "$file" ] || continue
  from=$(basename "$file")
  from=${from%%--*}
  steps=$(way "$from")
  write "dpquantile--$from--$version.sql" "ALTER EXTENSION dpquantile UPDATE TO '$version'" begin.sql updates/begin.sql $steps $(files always/)
  # An update does not take it from the control file.
  printf '\nCOMMENT ON EXTENSION dpquantile IS %s;\n' "$comment" >>"$directory/dpquantile--$from--$version.sql"
done
