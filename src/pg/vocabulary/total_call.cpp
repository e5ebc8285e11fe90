#include "pg/vocabulary/total_call.hpp"

namespace dpquantile {

bool is_about_values(int sqlstate) {
  switch (sqlstate) {
    case ERRCODE_FEATURE_NOT_SUPPORTED:
    case ERRCODE_SYNTAX_ERROR:
    case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
    case ERRCODE_STATEMENT_TOO_COMPLEX:
      return true;
    default:
      return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_DATA_EXCEPTION;
  }
}

Datum call_or_null(PGFunction original, FunctionCallInfo fcinfo) {
  const MemoryContext context = CurrentMemoryContext;
  ErrorContextCallback* const callers = error_context_stack;
  volatile Datum answer = 0;
  PG_TRY();
  // To describe where an error came from takes longer than all else, and nobody sees it.
  error_context_stack = nullptr;
  answer = original(fcinfo);
  error_context_stack = callers;
  PG_CATCH();
  {
    if (!is_about_values(geterrcode())) PG_RE_THROW();
    MemoryContextSwitchTo(context);
    FlushErrorState();
    fcinfo->isnull = true;
  }
  PG_END_TRY();
  return answer;
}

Datum call_or_null(PGFunction original, FunctionCallInfo fcinfo, Datum first, Datum second) {
  LOCAL_FCINFO(call, 2);
  InitFunctionCallInfoData(*call, fcinfo->flinfo, 2, fcinfo->fncollation, nullptr, nullptr);
  call->args[0] = {first, false};
  call->args[1] = {second, false};
  const Datum answer = call_or_null(original, call);
  fcinfo->isnull = call->isnull;
  return answer;
}

}  // namespace dpquantile
