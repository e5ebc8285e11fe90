#pragma once

#include "pg/server/postgres.hpp"

// How a query over protected relations is refused.
namespace dpquantile {

// What refusals of a query name. Plain data.
struct RefusedQuery {
  const char* text;      // the text that locations refer to
  const char* relation;  // a borrowed relation
  const char* user;      // its column that names the user, or null if each row is protected
};

// A location that the text does not have.
inline constexpr int kNowhere = -1;

// Raises 42501, "permission denied for table staff", with the reason (a clause without a full
// stop), an accepted shape as the hint (a sentence), and the position of what was found.
[[noreturn]] void refuse(const RefusedQuery& query, int location, const char* reason,
                         const char* hint);

// The same with a SQLSTATE of its own.
[[noreturn]] void refuse_with_code(const RefusedQuery& query, int code, int location,
                                   const char* reason, const char* hint);

}  // namespace dpquantile
