#include "pg/protect/long_types.hpp"

#include "pg/vocabulary/type_table.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

bool is_text(Oid type) {
  const Oid base = getBaseType(type);
  return base == TEXTOID || base == VARCHAROID || base == BPCHAROID || base == BYTEAOID;
}

bool is_read_whole(Oid type) {
  const Oid base = getBaseType(type);
  return is_text(base) || base == JSONBOID || base == TEXTARRAYOID;
}

bool is_number(Oid type) {
  return getBaseType(type) == NUMERICOID;
}

bool is_array(Oid type) {
  return OidIsValid(get_element_type(getBaseType(type)));
}

Oid type_of_short_value(Oid type) {
  const Oid base = getBaseType(type);
  if (is_array(type)) return ANYARRAYOID;
  switch (get_typtype(base)) {
    case TYPTYPE_RANGE:
      return ANYRANGEOID;
    case TYPTYPE_MULTIRANGE:
      return ANYMULTIRANGEOID;
    default:
      break;
  }
  const TypeRule* rule = find_type(base);
  return rule != nullptr && rule->has_any_length ? base : InvalidOid;
}

bool has_any_length(Oid type) {
  return OidIsValid(type_of_short_value(type));
}

}  // namespace dpquantile
