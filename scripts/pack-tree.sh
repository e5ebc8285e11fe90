#!/usr/bin/env bash
# pack-tree.sh [TREE]: writes this tree, or another one, to its output as a tar file, without what was built, so that it can be
# tested elsewhere.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
exec tar --exclude=./{.git,.demo,.build,packages,results,log,tmp_check,tmp_check_iso,output_iso,'regression.*','*.zip'} \
  --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude='*.d' -cf - .
