#include "pg/protect/total_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

constexpr char kSchema[] = "dpquantile";
constexpr char kOverflow[] = "overflow";

constexpr TotalFunction kTotalFunctions[] = {
    {F_INT4PL, TotalKind::kVariant, 0, kOverflow},
};

// Leakproof functions of PostgreSQL that fail for some values all the same.
constexpr Oid kExceptions[] = {
    F_CIRCLE_EQ,
};

bool is_exception(Oid function) {
  for (const Oid exception : kExceptions) {
    if (exception == function) return true;
  }
  return false;
}

Oid function_of_schema(const char* name, const oidvector* arguments) {
  const Oid schema = get_namespace_oid(kSchema, true);
  if (!OidIsValid(schema)) return InvalidOid;
  return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                         PointerGetDatum(arguments), ObjectIdGetDatum(schema));
}

}  // namespace

const TotalFunction* find_total_function(Oid function) {
  for (const TotalFunction& entry : kTotalFunctions) {
    if (entry.function == function) return &entry;
  }
  return nullptr;
}

bool is_total(Oid function) {
  if (function >= FirstUnpinnedObjectId) return false;
  const TotalFunction* entry = find_total_function(function);
  if (entry != nullptr) return entry->kind == TotalKind::kAsItIs;
  return get_func_leakproof(function) && func_volatile(function) != PROVOLATILE_VOLATILE &&
         !is_exception(function);
}

Oid total_variant(Oid function) {
  const HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const auto* original = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
  const char* name = psprintf("total_%s", NameStr(original->proname));
  const Oid variant = function_of_schema(name, &original->proargtypes);
  const Oid result = original->prorettype;
  ReleaseSysCache(row);
  return OidIsValid(variant) && get_func_rettype(variant) == result ? variant : InvalidOid;
}

Oid total_text_cast(Oid type) {
  const Oid text = TEXTOID;
  const HeapTuple row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const char* name =
      psprintf("total_%s", NameStr(reinterpret_cast<Form_pg_type>(GETSTRUCT(row))->typname));
  ReleaseSysCache(row);
  const Oid cast = function_of_schema(name, buildoidvector(&text, 1));
  return OidIsValid(cast) && get_func_rettype(cast) == type ? cast : InvalidOid;
}

}  // namespace dpquantile
