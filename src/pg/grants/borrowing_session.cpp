#include "pg/grants/borrowing_session.hpp"

#include "pg/restricted/message_level.hpp"
#include "pg/restricted/restricted_session.hpp"
#include "pg/restricted/unrestricted_code.hpp"

extern "C" {
#include "access/gin.h"
#include "access/xact.h"
#include "utils/snapmgr.h"
}

namespace dpquantile {

void require_borrowing_session(const RefusedQuery& query) {
  if (GetUserId() != GetOuterUserId() || InSecurityRestrictedOperation()) {
    refuse(query, kNowhere, "the query runs with the rights of another role than the one who pays",
           "Ask outside of SECURITY DEFINER functions and of maintenance commands.");
  }
  if (!session_is_restricted() || !session_began_restricted()) {
    refuse_with_code(query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     session_is_restricted() ? "the session was not restricted when it began"
                                             : "the session is not restricted",
                     "Have an administrator call dp_restrict_role for the login role, and connect "
                     "again.");
  }
  refuse_low_message_level();
  if (const char* code = unrestricted_code()) {
    refuse_with_code(query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     psprintf("%s, and autovacuum would run its code without the library", code),
                     "Have an administrator add dpquantile to shared_preload_libraries, or take "
                     "from restricted roles the right to create and their tables.");
  }
  if (IsolationIsSerializable()) {
    refuse_with_code(query, ERRCODE_FEATURE_NOT_SUPPORTED, kNowhere,
                     "a serialization failure would tell which rows were read",
                     "Use REPEATABLE READ.");
  }
  if (DPQ_SNAPSHOTS_MAY_GET_TOO_OLD) {
    refuse_with_code(query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     "an error about an old snapshot would tell which pages were read",
                     "Have an administrator set old_snapshot_threshold to -1.");
  }
  if (GinFuzzySearchLimit != 0) {
    refuse_with_code(query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     "gin_fuzzy_search_limit chooses rows by the number of the others",
                     "SET gin_fuzzy_search_limit = 0;");
  }
}

}  // namespace dpquantile
