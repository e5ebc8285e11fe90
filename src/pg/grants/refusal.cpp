#include "pg/grants/refusal.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
}

namespace dpquantile {

namespace {

// What the error is that is raised next, or was raised last and not noted.
enum class Raised { kOther, kRefusal, kAfterRefusals };
Raised raised = Raised::kOther;

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

bool is_same(const ErrorData* one, const ErrorData* other) {
  return one->cursorpos == other->cursorpos && one->internalpos == other->internalpos &&
         strcmp(one->message, other->message) == 0;
}

// Nobody reads more.
constexpr int kMostReasons = 100;

// Each has the text of the query: what is not kept is freed.
void add_last_error(Reasons* reasons) {
  if (list_length(reasons->errors) >= kMostReasons) return;
  ErrorData* error = CopyErrorData();
  for (const auto* known : each<const ErrorData>(reasons->errors)) {
    if (is_same(known, error)) return FreeErrorData(error);
  }
  reasons->errors = lappend(reasons->errors, error);
}

}  // namespace

void refuse_with_code(const RefusedQuery& query, int code, int location, const char* message,
                      const char* hint) {
  raised = Raised::kRefusal;
  ereport(ERROR,
          (errcode(code), errmsg("%s", message),
           query.relation == nullptr ? 0
                                     : errdetail("Only differentially private queries are allowed "
                                                 "on \"%s\".",
                                                 query.relation),
           errhint("%s", hint), errposition_in(query.text, location)));
}

void refuse(const RefusedQuery& query, int location, const char* message, const char* hint) {
  refuse_with_code(query, ERRCODE_FEATURE_NOT_SUPPORTED, location, message, hint);
}

void require_few_nodes(const RefusedQuery& query, int nodes, int location) {
  if (nodes <= kMostExpressionNodes) return;
  refuse_with_code(query, ERRCODE_STATEMENT_TOO_COMPLEX, location,
                   psprintf("the query has more than %d expression nodes", kMostExpressionNodes),
                   "Write a shorter query. A list counts as one node if it is an array: = ANY "
                   "('{1,2,3}'), FROM unnest($1).");
}

void refuse_right(const RefusedQuery& query, int location, const char* detail, const char* hint) {
  raised = Raised::kRefusal;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied for table %s", query.relation), errdetail("%s", detail),
                  errhint("%s", hint), errposition_in(query.text, location)));
}

void refuse_without_select(const RefusedQuery& query, int location, const char* reason,
                           const char* hint) {
  refuse_right(query, location,
               psprintf("Only differentially private queries are allowed on it: %s.", reason),
               hint);
}

void end_check_after_refusals() {
  raised = Raised::kAfterRefusals;
  ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("the reasons have been noted")));
}

bool note_refusal(Reasons* reasons, void (*function)(void* context), void* context) {
  CHECK_FOR_INTERRUPTS();
  const MemoryContext memory = CurrentMemoryContext;
  volatile bool passes = true;
  raised = Raised::kOther;
  PG_TRY();
  function(context);
  PG_CATCH();
  {
    const Raised error = raised;
    raised = Raised::kOther;
    if (error == Raised::kOther) PG_RE_THROW();
    MemoryContextSwitchTo(memory);
    if (error == Raised::kRefusal) add_last_error(reasons);
    FlushErrorState();
    passes = false;
  }
  PG_END_TRY();
  return passes;
}

}  // namespace dpquantile
