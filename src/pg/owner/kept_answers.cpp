// What SQL tells of the answers that are kept for reuse.
#include "pg/reuse/kept_answers.hpp"

#include "pg/owner/own_relation.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
}

namespace dpquantile {

namespace {

// Whether the current user is (a member of) the owner of the budgets.
bool sees_all_roles() {
  const Oid schema = get_namespace_oid("dpquantile", true);
  HeapTuple table = SearchSysCache1(RELOID, ObjectIdGetDatum(get_relname_relid("budget", schema)));
  if (!HeapTupleIsValid(table)) return false;
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(table))->relowner;
  ReleaseSysCache(table);
  return has_privs_of_role(GetUserId(), owner);
}

}  // namespace

}  // namespace dpquantile

using namespace dpquantile;

// () returns setof record (role oid, first_charge bigint, charges integer, reuses bigint)
DPQ_FUNCTION(dpq_kept_answers) {
  InitMaterializedSRF(fcinfo, 0);
  const auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const bool all = sees_all_roles();
  int count;
  const KeptAnswer* answers = list_kept_answers(&count);
  for (int i = 0; i < count; ++i) {
    const KeptAnswer& answer = answers[i];
    if (!all && answer.role != GetOuterUserId()) continue;
    Datum values[] = {ObjectIdGetDatum(answer.role), Int64GetDatum(answer.first_charge),
                      Int32GetDatum(answer.charges), Int64GetDatum(answer.reuses)};
    bool nulls[lengthof(values)] = {};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  }
  return 0;
}

// () returns boolean
DPQ_FUNCTION(dpq_keeps_answers) {
  (void)fcinfo;
  PG_RETURN_BOOL(most_kept_bytes() > 0);
}

// (relation regclass) returns integer
DPQ_FUNCTION(dpq_forget_answers) {
  PG_RETURN_INT32(forget_kept_answers(lock_own_relation(fcinfo)));
}
