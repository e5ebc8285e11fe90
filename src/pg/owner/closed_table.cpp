// Tables of which a role gets no answers, because its budget for them has been revoked or would be
// exceeded.
#include "pg/owner/closed_table.hpp"

#include "pg/owner/own_relation.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// The functions of the extension have its owner.
bool is_owner_of(Oid function) {
  HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return false;
  const Oid owner = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row))->proowner;
  ReleaseSysCache(row);
  return has_privs_of_role(GetUserId(), owner);
}

}  // namespace

bool is_closed_table(Oid role, Oid relation) {
  InternalCall call("has_revoked_budget");
  call.add(OIDOID, {ObjectIdGetDatum(role), false});
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), false});
  return DatumGetBool(call.result());
}

const char* exceeded_budget(Oid role, Oid relation, const ChargedTogether& charges) {
  InternalCall call("exceeded_budget");
  call.add(OIDOID, {ObjectIdGetDatum(role), false});
  call.add(REGCLASSOID, {ObjectIdGetDatum(relation), !OidIsValid(relation)});
  call.add(FLOAT8OID, charges.epsilon);
  call.add(FLOAT8OID, charges.delta);
  call.add(FLOAT8OID, charges.rho);
  char* left = TextDatumGetCString(call.result());
  return left[0] == '\0' ? nullptr : left;
}

}  // namespace dpquantile

using namespace dpquantile;

// (role oid, relation regclass) returns boolean: for the role itself and for the owner of the
// extension. Others get false.
DPQ_FUNCTION(dpq_is_closed_table) {
  const Oid role = PG_GETARG_OID(0);
  if (role != GetOuterUserId() && !is_owner_of(fcinfo->flinfo->fn_oid)) PG_RETURN_BOOL(false);
  PG_RETURN_BOOL(is_closed_table(role, PG_GETARG_OID(1)));
}
