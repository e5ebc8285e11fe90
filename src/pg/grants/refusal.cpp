#include "pg/grants/refusal.hpp"

extern "C" {
#include "mb/pg_wchar.h"
#include "tcop/tcopprot.h"
}

namespace dpquantile {

namespace {

// The client knows its own statement. For any other text, such as that of a prepared statement or
// of a function, the error carries the text.
int errposition_in(const char* text, int location) {
  if (location < 0 || text == nullptr || location > static_cast<int>(strlen(text))) return 0;
  const int position = pg_mbstrlen_with_len(text, location) + 1;
  if (debug_query_string != nullptr && strcmp(text, debug_query_string) == 0) {
    return errposition(position);
  }
  internalerrposition(position);
  return internalerrquery(text);
}

}  // namespace

void refuse_with_code(const RefusedQuery& query, int code, int location, const char* reason,
                      const char* hint) {
  ereport(ERROR, (errcode(code), errmsg("permission denied for table %s", query.relation),
                  errdetail("Only differentially private queries are allowed on it: %s.", reason),
                  errhint("%s", hint), errposition_in(query.text, location)));
}

void refuse(const RefusedQuery& query, int location, const char* reason, const char* hint) {
  refuse_with_code(query, ERRCODE_INSUFFICIENT_PRIVILEGE, location, reason, hint);
}

}  // namespace dpquantile
