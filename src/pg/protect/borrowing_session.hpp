#pragma once

#include "pg/protect/refusal.hpp"

namespace dpquantile {

// ereports unless the session may borrow relations: it is restricted, the current user is the one
// who pays, in no security-restricted operation and no SERIALIZABLE transaction.
void require_borrowing_session(const RefusedQuery& query);

}  // namespace dpquantile
