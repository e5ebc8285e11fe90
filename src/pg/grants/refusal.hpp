#pragma once

#include "pg/server/postgres.hpp"

// How a query over protected relations is refused. Who may not do what the query does gets 42501;
// whose right would do, but not for a query of this form, gets 0A000; who stated a wrong parameter,
// or left one out, gets 22023; what the owner of a table, or an administrator, must change first
// has 55000; limits have 54000 and 54001. docs/errors.md lists them all.
namespace dpquantile {

// What refusals of a query name. Plain data.
struct RefusedQuery {
  const char* text;         // the text that locations refer to
  const char* relation;     // a borrowed relation
  const char* user_column;  // of it, which identifies the person, or null if each row is protected
  bool limits_rows;         // whether an answer sees a limited number of rows of a person
  bool answers_plain_sql;   // whether the grants state an epsilon for standard aggregates
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

// Raises 42501, "permission denied for table staff", with the right that is missing as the detail
// (a sentence).
[[noreturn]] void refuse_right(const RefusedQuery& query, int location, const char* detail,
                               const char* hint);

// The same for a query that would need SELECT, because it shows rows or computes exact answers from
// them. The reason is a clause.
[[noreturn]] void refuse_without_select(const RefusedQuery& query, int location, const char* reason,
                                        const char* hint);

}  // namespace dpquantile
