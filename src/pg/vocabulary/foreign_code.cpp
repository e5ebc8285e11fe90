#include "pg/vocabulary/foreign_code.hpp"

#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "catalog/objectaccess.h"
#include "utils/regproc.h"
}

namespace dpquantile {

namespace {

bool is_refused = false;
object_access_hook_type previous_access = nullptr;

// PostgreSQL tells of each function before it calls it.
void refuse_foreign_code(ObjectAccessType access, Oid catalog, Oid object, int part,
                         void* argument) {
  if (previous_access != nullptr) previous_access(access, catalog, object, part, argument);
  if (!is_refused || access != OAT_FUNCTION_EXECUTE || passes_gate(catalog, object)) return;
  is_refused = false;
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
       errmsg("function %s would run in a query over protected tables", format_procedure(object)),
       errdetail("An index, extended statistics, a CHECK constraint or a partition key of a "
                 "table of the query calls it with constants, or an operator that search_path "
                 "has before PostgreSQL's."),
       errhint("Leave this table out of the query, or put pg_catalog first in search_path.")));
}

}  // namespace

bool begin_without_foreign_code() {
  const bool before = is_refused;
  is_refused = true;
  return before;
}

void end_without_foreign_code(bool before) {
  is_refused = before;
}

void install_foreign_code_guard() {
  previous_access = object_access_hook;
  object_access_hook = refuse_foreign_code;
}

}  // namespace dpquantile
