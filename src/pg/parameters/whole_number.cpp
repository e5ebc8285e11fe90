#include "pg/parameters/whole_number.hpp"

#include <cmath>

extern "C" {
#include "catalog/pg_type_d.h"
}

#include "pg/server/decimal.hpp"

namespace dpquantile {

int64 whole_number(Datum value, Oid type, const char* name) {
  if (type == INT8OID) return DatumGetInt64(value);
  constexpr double kBeyond = 1e15;
  const double given = DatumGetFloat8(value);
  if (std::abs(given) < kBeyond && given == std::floor(given)) return static_cast<int64>(given);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("%s must be a whole number of at most 15 digits, got %s", name,
                         decimal_text(given)),
                  errhint("Write it without a fraction.")));
}

int64 whole_argument(FunctionCallInfo fcinfo, int number, const char* name) {
  return whole_number(PG_GETARG_DATUM(number), get_fn_expr_argtype(fcinfo->flinfo, number), name);
}

}  // namespace dpquantile
