#include "pg/parameters/private_call.hpp"

#include "pg/server/trees.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

// Only a superuser can make a function in C, so its symbol can be trusted.
const FamilyRow* family_of_final_function(Oid function) {
  if (function < FirstNormalObjectId) return nullptr;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return nullptr;
  const FamilyRow* family = nullptr;
  if (reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang == ClanguageId) {
    bool is_null;
    const Datum symbol = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
    if (!is_null) family = find_family_by_final_function(TextDatumGetCString(symbol));
  }
  ReleaseSysCache(tuple);
  return family;
}

}  // namespace

Oid final_function_of(const Aggref* call) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(call->aggfnoid));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid function = reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple))->aggfinalfn;
  ReleaseSysCache(tuple);
  return function;
}

const FamilyRow* private_family(const Aggref* call) {
  if (call->aggfnoid < FirstNormalObjectId) return nullptr;
  return family_of_final_function(final_function_of(call));
}

const FamilyRow* private_family(const Node* expression) {
  if (!IsA(expression, Aggref)) return nullptr;
  return private_family(as<Aggref>(expression));
}

bool is_keep_group(const Node* condition) {
  const FamilyRow* family = private_family(condition);
  return family != nullptr && family->selects_groups;
}

bool has_keep_group(const Node* condition) {
  return any_node(condition, is_keep_group);
}

bool has_private_calls(const PlannerInfo* root) {
  for (const auto* aggregate : each<const AggInfo>(root->agginfos)) {
    if (family_of_final_function(aggregate->finalfn_oid) != nullptr) return true;
  }
  return false;
}

}  // namespace dpquantile
