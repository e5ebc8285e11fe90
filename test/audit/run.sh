#!/usr/bin/env bash
# run.sh LIBRARY ADVERSARY: looks for data that refute a mechanism of src/core (test/adversary), for a third of the time, and then for
# charges that answers refute through SQL. `make audit` calls it. Fails if either finds something.
# SECONDS_IN_ALL: how long, by default 300; SEED: of the shapes of data, by default another one each time; CHECKS: only these checks of
# test/adversary; CASES: only these cases of catalogue.py.
set -euo pipefail

library=$1
adversary=$2
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
seconds=${SECONDS_IN_ALL:-300}
# What only one of the two is asked, gets all of the time.
share=$((seconds / 3))
if [[ -n ${CASES:-} ]]; then share=0; fi
if [[ -n ${CHECKS:-} ]]; then share=$seconds; fi
status=0
if ((share > 0)); then
  "$adversary" "$share" "${SEED:-$RANDOM}" "${CHECKS:-}" || status=1
fi
if ((share < seconds)); then
  SECONDS_IN_ALL=$((seconds - share)) "$tree/test/attack/run.sh" audit "$library" || status=1
fi
exit "$status"
