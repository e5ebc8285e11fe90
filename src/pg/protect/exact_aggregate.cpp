#include "pg/protect/exact_aggregate.hpp"

extern "C" {
#include "utils/fmgroids.h"
}

namespace dpquantile {

bool is_exact_aggregate(Oid aggregate) {
  switch (aggregate) {
    case F_COUNT_:
    case F_COUNT_ANY:
    case F_SUM_INT2:
    case F_SUM_INT4:
    case F_SUM_INT8:
    case F_SUM_NUMERIC:
    case F_AVG_INT2:
    case F_AVG_INT4:
    case F_AVG_INT8:
    case F_AVG_NUMERIC:
    case F_MIN_INT2:
    case F_MIN_INT4:
    case F_MIN_INT8:
    case F_MIN_DATE:
    case F_MIN_TIMESTAMP:
    case F_MIN_TIMESTAMPTZ:
    case F_MAX_INT2:
    case F_MAX_INT4:
    case F_MAX_INT8:
    case F_MAX_DATE:
    case F_MAX_TIMESTAMP:
    case F_MAX_TIMESTAMPTZ:
    case F_BOOL_AND:
    case F_BOOL_OR:
    case F_EVERY:
      return true;
    default:
      return false;
  }
}

}  // namespace dpquantile
