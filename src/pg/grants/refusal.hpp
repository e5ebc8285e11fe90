#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pg_list.h"
}

// How a query over protected relations is refused. Who may not do what the query does gets 42501;
// whose right would do, but not for a query of this form, gets 0A000; who stated a wrong parameter,
// or left one out, gets 22023; what the owner of a table, or an administrator, must change first
// has 55000; limits have 54000 and 54001. docs/errors.md lists them all.
namespace dpquantile {

// Why a statement is refused, if all reasons are wanted and not only the first: for dp_explain.
struct Reasons {
  List* errors;  // ErrorData, each once, 100 at most
  bool is_last;  // the rules that come later would only find what follows from these
};

// What refusals of a query name. Plain data.
struct RefusedQuery {
  const char* text = nullptr;         // the text that locations refer to
  const char* relation = nullptr;     // a borrowed relation
  const char* user_column = nullptr;  // of it, which names the person; null: each row is protected
  bool limits_rows = false;           // whether an answer sees a limited number of rows of a person
  bool answers_plain_sql = false;     // whether the grants state an epsilon for standard aggregates
  bool chooses_keys = false;          // whether they state a delta, too, for keys without a list
  Reasons* reasons = nullptr;         // null: the first one is raised as an error
};

// A location that the text does not have.
inline constexpr int kNowhere = -1;

// Raises 0A000, which says that queries of this form are not supported. The message is a clause
// without a full stop, the hint a sentence with a form that is, the location where it was found.
[[noreturn]] void refuse(const RefusedQuery& query, int location, const char* message,
                         const char* hint);

// The same with another SQLSTATE.
[[noreturn]] void refuse_with_code(const RefusedQuery& query, int code, int location,
                                   const char* message, const char* hint);

// How many nodes the expressions of a query may have, with all copies of a part that it names once.
inline constexpr int kMostExpressionNodes = 5000;

// Raises 54001 if there are more nodes. What makes copies counts their nodes before it makes them.
void require_few_nodes(const RefusedQuery& query, int nodes, int location);

// Raises 42501, "permission denied for table staff", with the right that is missing as the detail
// (a sentence).
[[noreturn]] void refuse_right(const RefusedQuery& query, int location, const char* detail,
                               const char* hint);

// The same for a query that would need SELECT, because it shows rows or computes exact answers from
// them. The reason is a clause.
[[noreturn]] void refuse_without_select(const RefusedQuery& query, int location, const char* reason,
                                        const char* hint);

// ---- All reasons ---------------------------------------------------------------------------

// Calls a function. A refusal in it is noted; every other error is raised. Returns whether there
// was none. What the function had been changing may be half changed then, so that the statement
// cannot be planned, and the resources that it held are free when the subtransaction around ends.
bool note_refusal(Reasons* reasons, void (*function)(void* context), void* context);

// How many there are. What could follow from one of them only is not looked at.
inline int count_reasons(const RefusedQuery& query) {
  return query.reasons == nullptr ? 0 : list_length(query.reasons->errors);
}

// Ends a check in which refusals have been noted, as the last of them would have: what comes after
// it in the check relies on what has been refused.
[[noreturn]] void end_check_after_refusals();

// Makes a check. If all reasons are wanted, what comes after it is looked at even if it refuses;
// returns whether it does not.
template <class Check>
bool attempt(const RefusedQuery& query, Check check) {
  if (query.reasons != nullptr) {
    return note_refusal(
        query.reasons, [](void* context) { (*static_cast<Check*>(context))(); }, &check);
  }
  check();
  return true;
}

}  // namespace dpquantile
