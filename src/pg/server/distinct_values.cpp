#include "pg/server/distinct_values.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

struct Order {
  FmgrInfo* compare;
  Oid collation;
};

// For qsort_arg(). `order` is an Order*.
int compare_values(const void* left, const void* right, void* order) {
  const auto* by = static_cast<const Order*>(order);
  return DatumGetInt32(FunctionCall2Coll(by->compare, by->collation,
                                         *static_cast<const Datum*>(left),
                                         *static_cast<const Datum*>(right)));
}

}  // namespace

Oid equality_family(Oid type) {
  return lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

bool are_distinct(Datum* values, int count, Oid type, Oid collation) {
  TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_CMP_PROC_FINFO);
  if (!OidIsValid(entry->cmp_proc_finfo.fn_oid)) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("values of type %s cannot be compared", format_type_be(type))));
  }
  Order order = {&entry->cmp_proc_finfo, collation};
  qsort_arg(values, static_cast<size_t>(count), sizeof(Datum), compare_values, &order);
  for (int i = 1; i < count; ++i) {
    if (compare_values(&values[i - 1], &values[i], &order) == 0) return false;
  }
  return true;
}

}  // namespace dpquantile
