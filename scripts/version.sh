#!/bin/sh
# version.sh [TREE]: prints the version of the extension in this tree, or in another one.
set -eu
sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" "${1:-$(dirname "$0")/..}/dpquantile.control"
