#pragma once

#include "pg/grants/refusal.hpp"

namespace dpquantile {

// ereports unless the session may borrow relations: it has been restricted since it began, the
// current user is the one who pays, in no security-restricted operation and no SERIALIZABLE
// transaction, client_min_messages is not below notice, and no setting makes the rows of a scan, or
// errors, depend on other rows.
void require_borrowing_session(const RefusedQuery& query);

}  // namespace dpquantile
