// dp_histogram_rows: the bins of a released histogram. It costs no budget.
#include "pg/answers/histogram_arrays.hpp"
#include "pg/server/boundary.hpp"

extern "C" {
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"
}

using namespace dpquantile;

// (bounds anyarray, counts bigint[]) returns rows of lower, upper and count
DPQ_FUNCTION(dpq_histogram_rows) {
  const ArrayElements bounds = elements_of(PG_GETARG_ARRAYTYPE_P(0), "bounds");
  const ArrayElements counts = elements_of(PG_GETARG_ARRAYTYPE_P(1), "counts");
  require_one_count_a_bin(static_cast<std::size_t>(bounds.count),
                          static_cast<std::size_t>(counts.count));
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  for (int i = 0; i < counts.count; ++i) {
    CHECK_FOR_INTERRUPTS();
    Datum values[] = {bounds.values[i], bounds.values[i + 1], counts.values[i]};
    bool nulls[] = {false, false, false};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  }
  return Datum{0};
}
