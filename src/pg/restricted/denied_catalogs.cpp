#include "pg/restricted/denied_catalogs.hpp"

#include "pg/restricted/restricted_session.hpp"
#include "pg/restricted/system_columns.hpp"
#include "pg/restricted/told_by_column.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "access/sysattr.h"
#include "access/transam.h"
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

constexpr AttrNumber kSystemColumns[] = {
    MaxTransactionIdAttributeNumber, MinTransactionIdAttributeNumber, MaxCommandIdAttributeNumber,
    MinCommandIdAttributeNumber,     SelfItemPointerAttributeNumber,
};

// The first system column that is read and tells facts. Null if none is.
const char* told_system_column(const RelationPermissions* relation) {
  for (const AttrNumber column : kSystemColumns) {
    const int member = column - FirstLowInvalidHeapAttributeNumber;
    if (!bms_is_member(member, relation->selectedCols)) continue;
    if (const char* name = told_by_system_column(relation->relid, column)) return name;
  }
  return nullptr;
}

bool tells_facts(const RelationPermissions* relation) {
  switch (relation->relid) {
    case StatisticRelationId:
    case StatisticExtDataRelationId:
      return (relation->requiredPerms & ACL_SELECT) != 0;
    default:
      return reads_facts(relation->relid, relation->selectedCols) ||
             told_system_column(relation) != nullptr;
  }
}

[[noreturn]] void refuse_columns(Oid catalog) {
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied for columns of table %s that reveal facts about rows",
                         get_rel_name(catalog)),
                  errdetail_restricted("facts about rows"),
                  errhint("A SELECT without TABLESAMPLE and locks shows constants for them. Or "
                          "name the columns that you need instead of *.")));
}

[[noreturn]] void refuse_plan_of_catalog(Oid catalog) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("EXPLAIN of a query of table %s is not supported", get_rel_name(catalog)),
                  errdetail_restricted("the plan depends on the number of hidden rows"),
                  errhint("Run the query itself: it shows the rows that you may see.")));
}

[[noreturn]] void refuse_statistics(Oid relation) {
  ereport(
      ERROR,
      (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
       errmsg("permission denied for table %s", get_rel_name(relation)),
       errdetail_restricted("statistics of columns"),
       errhint(
           "The view information_schema.columns and the table pg_attribute describe columns.")));
}

}  // namespace

bool may_read_catalogs(List* permissions, bool ereport_on_violation) {
  for (const auto* relation : each<const RelationPermissions>(permissions)) {
    if (!tells_facts(relation)) continue;
    if (!ereport_on_violation) return false;
    if (const char* column = told_system_column(relation)) {
      refuse_system_column(relation->relid, column);
    }
    if (reads_facts(relation->relid, relation->selectedCols)) refuse_columns(relation->relid);
    refuse_statistics(relation->relid);
  }
  return true;
}

void refuse_plan_of_hidden_table(const QueryDesc* query) {
  for (const auto* relation :
       each<const RelationPermissions>(DPQ_PLAN_PERMISSIONS(query->plannedstmt))) {
    if (condition_on_rows(relation->relid) != nullptr) refuse_plan_of_catalog(relation->relid);
    // The contents of PostgreSQL's own catalogs are no private data.
    if (relation->relid < FirstNormalObjectId || !OidIsValid(relation->checkAsUser)) continue;
    if (pg_class_aclcheck(relation->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK) continue;
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg(
             "EXPLAIN of this view is not supported: its plan reads a table that you may not read"),
         errdetail_restricted("the plan depends on the number of rows"),
         errhint("dp_explain('SELECT ...') shows what a query costs, the ledger (dp_ledger) what "
                 "it has cost.")));
  }
}

}  // namespace dpquantile
