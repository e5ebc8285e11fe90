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
    refuse_right(
        query, kNowhere,
        "The query runs with the rights of another role than the one whose budget pays for it.",
        "Ask outside of SECURITY DEFINER functions and maintenance commands.");
  }
  if (!session_is_restricted() || !session_began_restricted()) {
    refuse_with_code(
        query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
        session_is_restricted() ? "the session was not restricted when it began"
                                : "the session is not restricted",
        "Have an administrator call dp_restrict_role for the login role, and connect again.");
  }
  refuse_low_message_level();
  if (const char* code = unrestricted_code()) {
    refuse_with_code(
        query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
        psprintf("%s, and autovacuum would run that role's code without the library dpquantile",
                 code),
        "Have an administrator add dpquantile to shared_preload_libraries, or take their tables, "
        "and the right to create some, from restricted roles.");
  }
  if (IsolationIsSerializable()) {
    refuse_with_code(query, ERRCODE_FEATURE_NOT_SUPPORTED, kNowhere,
                     "SERIALIZABLE transactions cannot read protected tables: a serialization "
                     "failure would reveal which rows were read",
                     "Use REPEATABLE READ.");
  }
  if (DPQ_SNAPSHOTS_MAY_GET_TOO_OLD) {
    refuse_with_code(query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
                     "old_snapshot_threshold is set: its error \"snapshot too old\" would reveal "
                     "which pages were read",
                     "Have an administrator set old_snapshot_threshold to -1.");
  }
  if (GinFuzzySearchLimit != 0) {
    refuse_with_code(
        query, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, kNowhere,
        "gin_fuzzy_search_limit is set: it would choose rows by the number of other rows",
        "SET gin_fuzzy_search_limit = 0;");
  }
}

}  // namespace dpquantile
