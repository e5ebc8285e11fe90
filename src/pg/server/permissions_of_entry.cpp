#include "pg/server/permissions_of_entry.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "parser/parse_relation.h"
}

namespace dpquantile {

#if PG_VERSION_NUM >= 160000

RelationPermissions* permissions_of_relation(const Query* query, const RangeTblEntry* entry) {
  return getRTEPermissionInfo(query->rteperminfos, const_cast<RangeTblEntry*>(entry));
}

namespace {

// Each element of rteperminfos belongs to one entry, which has its position.
void move_permissions(Query* from, const RangeTblEntry* entry, RangeTblEntry* moved, Query* to) {
  const Index position = entry->perminfoindex;
  to->rteperminfos = list_make1(permissions_of_relation(from, entry));
  moved->perminfoindex = 1;
  from->rteperminfos = list_delete_nth_cell(from->rteperminfos, static_cast<int>(position) - 1);
  for (auto* other : each<RangeTblEntry>(from->rtable)) {
    if (other->perminfoindex > position) --other->perminfoindex;
  }
}

void forget_permissions(RangeTblEntry* entry) {
  entry->perminfoindex = 0;
}

}  // namespace

#else

RelationPermissions* permissions_of_relation(const Query*, const RangeTblEntry* entry) {
  return const_cast<RangeTblEntry*>(entry);
}

namespace {

void move_permissions(Query*, const RangeTblEntry*, RangeTblEntry*, Query*) {}

void forget_permissions(RangeTblEntry* entry) {
  entry->requiredPerms = 0;
  entry->checkAsUser = InvalidOid;
  entry->selectedCols = nullptr;
}

}  // namespace

#endif

void move_into_subquery(Query* query, RangeTblEntry* entry, Query* subquery) {
  auto* moved = static_cast<RangeTblEntry*>(copyObjectImpl(entry));
  move_permissions(query, entry, moved, subquery);
  moved->lateral = false;
  subquery->rtable = list_make1(moved);
  forget_permissions(entry);
  entry->rtekind = RTE_SUBQUERY;
  entry->subquery = subquery;
  entry->security_barrier = false;
  entry->relid = InvalidOid;
  entry->relkind = 0;
  entry->rellockmode = 0;
  entry->inh = false;
}

}  // namespace dpquantile
