#include "pg/grants/relation_permissions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "parser/parse_relation.h"
#include "rewrite/prs2lock.h"
#include "utils/syscache.h"
}

namespace dpquantile {

#if PG_VERSION_NUM >= 160000

RelationPermissions* permissions_of(const Query* query, const RangeTblEntry* entry) {
  if (entry->perminfoindex == 0) return nullptr;
  return getRTEPermissionInfo(query->rteperminfos, const_cast<RangeTblEntry*>(entry));
}

List* all_permissions(const Query* query) {
  return query->rteperminfos;
}

#else

// The rewriter moves the rights on a view to the first entry of the view's query, which FROM does
// not show.
RelationPermissions* permissions_of(const Query*, const RangeTblEntry* entry) {
  if (entry->rtekind == RTE_RELATION) return const_cast<RangeTblEntry*>(entry);
  if (entry->rtekind != RTE_SUBQUERY || entry->subquery->rtable == NIL) return nullptr;
  auto* first = static_cast<RangeTblEntry*>(linitial(entry->subquery->rtable));
  const bool is_view = first->rtekind == RTE_RELATION && first->relkind == RELKIND_VIEW;
  return is_view ? first : nullptr;
}

List* all_permissions(const Query* query) {
  return query->rtable;
}

#endif

Oid owner_of(Oid relation) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(row)) return InvalidOid;
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relowner;
  ReleaseSysCache(row);
  return owner;
}

}  // namespace dpquantile
