#include "pg/reuse/answer_columns.hpp"

#include "pg/reuse/catalog_version.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

bool add_type(Fields* fields, Oid type);

// The owner of a row type may change its columns.
bool add_columns_of_row(Fields* fields, Oid type) {
  TupleDesc columns = lookup_rowtype_tupdesc(type, -1);
  const bool are_known = add_columns(fields, columns);
  ReleaseTupleDesc(columns);
  return are_known;
}

// What values of the type consist of.
bool add_parts(Fields* fields, Oid type) {
  if (OidIsValid(get_element_type(type))) return add_type(fields, get_element_type(type));
  switch (get_typtype(type)) {
    case TYPTYPE_BASE:
    case TYPTYPE_ENUM:
      return true;
    case TYPTYPE_DOMAIN:
      return add_type(fields, getBaseType(type));
    case TYPTYPE_COMPOSITE:
      return add_columns_of_row(fields, type);
    case TYPTYPE_RANGE:
      return add_type(fields, get_range_subtype(type));
    case TYPTYPE_MULTIRANGE:
      return add_type(fields, get_multirange_range(type));
    default:
      return false;
  }
}

bool add_type(Fields* fields, Oid type) {
  check_stack_depth();
  add_number(fields, type);
  if (type >= FirstNormalObjectId) add_number(fields, version_of(TYPEOID, type));
  return add_parts(fields, type);
}

}  // namespace

bool add_columns(Fields* fields, TupleDesc columns) {
  bool are_known = true;
  add_number(fields, static_cast<uint64>(columns->natts));
  for (int i = 0; i < columns->natts; ++i) {
    const auto* column = TupleDescAttr(columns, i);
    add_number(fields, column->attisdropped ? 1 : 0);
    add_number(fields, static_cast<uint64>(column->atttypmod));
    add_number(fields, column->attcollation);
    add_number(fields, static_cast<uint64>(column->attlen));
    add_number(fields, column->attbyval ? 1 : 0);
    if (!column->attisdropped) are_known = add_type(fields, column->atttypid) && are_known;
  }
  return are_known;
}

}  // namespace dpquantile
