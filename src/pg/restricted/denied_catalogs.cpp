#include "pg/restricted/denied_catalogs.hpp"

#include "pg/restricted/counts_in_pg_class.hpp"
#include "pg/restricted/restricted_session.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext_data.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

using RelationPermissions = DPQ_RELATION_PERMISSIONS;

// REFRESH MATERIALIZED VIEW CONCURRENTLY compares the places of rows in the view and in a temporary
// table. No query joins either with protected rows that somebody else may not read.
bool shows_places(Oid relation) {
  return get_rel_relkind(relation) == RELKIND_MATVIEW ||
         get_rel_persistence(relation) == RELPERSISTENCE_TEMP;
}

bool is_read(const RelationPermissions* relation, AttrNumber column) {
  return bms_is_member(column - FirstLowInvalidHeapAttributeNumber, relation->selectedCols);
}

// The column of a user's table that tells which transactions have written or locked a row, or where
// it is: foreign keys of other tables lock it. Null if none is read.
const char* told_by_system_column(const RelationPermissions* relation) {
  if (relation->relid < FirstNormalObjectId) return nullptr;
  if (is_read(relation, MaxTransactionIdAttributeNumber)) return "xmax";
  if (is_read(relation, MinTransactionIdAttributeNumber)) return "xmin";
  if (is_read(relation, MaxCommandIdAttributeNumber)) return "cmax";
  if (is_read(relation, MinCommandIdAttributeNumber)) return "cmin";
  const bool reads_place = is_read(relation, SelfItemPointerAttributeNumber);
  return reads_place && !shows_places(relation->relid) ? "ctid" : nullptr;
}

bool tells_facts(const RelationPermissions* relation) {
  switch (relation->relid) {
    case StatisticRelationId:
    case StatisticExtDataRelationId:
      return (relation->requiredPerms & ACL_SELECT) != 0;
    case RelationRelationId:
      return reads_counts(relation->selectedCols);
    default:
      return told_by_system_column(relation) != nullptr;
  }
}

[[noreturn]] void refuse_system_column(const RelationPermissions* relation) {
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
       errmsg("permission denied for column %s of table %s", told_by_system_column(relation),
              get_rel_name(relation->relid)),
       errdetail_restricted("the transactions that have written or locked a row, and its place"),
       errhint("Leave out the system columns. Only tableoid may be read.")));
}

[[noreturn]] void refuse_relation(Oid relation) {
  const bool is_pg_class = relation == RelationRelationId;
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
       is_pg_class ? errmsg("permission denied for columns relpages, reltuples, relallvisible, "
                            "relallfrozen and relminmxid of table pg_class")
                   : errmsg("permission denied for table %s", get_rel_name(relation)),
       errdetail_restricted(is_pg_class ? "numbers of rows and pages" : "statistics of columns"),
       is_pg_class
           ? errhint("A SELECT without system columns, TABLESAMPLE and locks shows constants for "
                     "them. Or name the columns that you need instead of *.")
           : errhint("The views information_schema.columns and pg_attribute describe "
                     "columns.")));
}

}  // namespace

bool may_read_catalogs(List* permissions, bool ereport_on_violation) {
  ListCell* cell;
  foreach (cell, permissions) {
    const auto* relation = static_cast<RelationPermissions*>(lfirst(cell));
    if (!tells_facts(relation)) continue;
    if (!ereport_on_violation) return false;
    if (told_by_system_column(relation) != nullptr) refuse_system_column(relation);
    refuse_relation(relation->relid);
  }
  return true;
}

void refuse_plan_of_hidden_table(const QueryDesc* query) {
  ListCell* cell;
  foreach (cell, DPQ_PLAN_PERMISSIONS(query->plannedstmt)) {
    const auto* relation = static_cast<RelationPermissions*>(lfirst(cell));
    // The contents of PostgreSQL's own catalogs are no private data.
    if (relation->relid < FirstNormalObjectId || !OidIsValid(relation->checkAsUser)) continue;
    if (pg_class_aclcheck(relation->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK) continue;
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("EXPLAIN of a view is refused, because the plan reads a table that you "
                "may not read"),
         errdetail_restricted("the plan depends on the number of rows"),
         errhint("dp_explain('SELECT ...') tells what a query costs, the ledger (dp_ledger) what "
                 "it has cost.")));
  }
}

}  // namespace dpquantile
