#include "pg/server/table_name.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace dpquantile {

const char* name_with_schema(Oid table) {
  const char* name = get_rel_name(table);
  const char* schema = get_namespace_name(get_rel_namespace(table));
  return name == nullptr || schema == nullptr ? nullptr : psprintf("%s.%s", schema, name);
}

}  // namespace dpquantile
