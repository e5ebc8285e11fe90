#!/usr/bin/env bash
# Writes this tree to its output as a tar file, without what was built, so that it can be tested elsewhere.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec tar --exclude=./{.git,.demo,.build,results,tmp_check,output_iso} --exclude='*.o' --exclude='*.so' --exclude='*.bc' \
  --exclude='*.d' -cf - .
