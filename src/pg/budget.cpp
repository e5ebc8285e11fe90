// What the budget's SQL views and functions need of the session.
#include "pg/decimal.hpp"
#include "pg/postgres.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(dpq_charged_role);
PG_FUNCTION_INFO_V1(dpq_decimal);
DPQ_EXPORT Datum dpq_charged_role(PG_FUNCTION_ARGS);
DPQ_EXPORT Datum dpq_decimal(PG_FUNCTION_ARGS);
}

// The role whose budget this session spends: the outer user, not the owner of a SECURITY DEFINER
// function.
Datum dpq_charged_role(PG_FUNCTION_ARGS) {
  PG_RETURN_OID(GetOuterUserId());
}

// (float8) returns numeric: the shortest decimal that reads back as the same number.
Datum dpq_decimal(PG_FUNCTION_ARGS) {
  PG_RETURN_DATUM(dpquantile::decimal_numeric(PG_GETARG_FLOAT8(0)));
}
