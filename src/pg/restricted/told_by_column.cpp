#include "pg/restricted/told_by_column.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "access/multixact.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_database.h"
#include "catalog/pg_description.h"
#include "catalog/pg_index.h"
#include "catalog/pg_largeobject.h"
#include "catalog/pg_largeobject_metadata.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

struct ToldColumn {
  Oid catalog;
  AttrNumber column;
  Oid type;
  int32 constant;
};

// What PostgreSQL's documentation of relhasindex, relhasrules, relhastriggers and relhassubclass
// calls "has, or once had": the next VACUUM or ANALYZE after the last one was dropped writes false,
// and autovacuum's follows the number of rows that have changed. Tools look at the other catalogs
// where they find true.
constexpr int32 kMayHave = 1;

constexpr ToldColumn kColumns[] = {
    {RelationRelationId, Anum_pg_class_relpages, INT4OID, 0},
    {RelationRelationId, Anum_pg_class_reltuples, FLOAT4OID, -1},
    {RelationRelationId, Anum_pg_class_relallvisible, INT4OID, 0},
#ifdef Anum_pg_class_relallfrozen
    {RelationRelationId, Anum_pg_class_relallfrozen, INT4OID, 0},
#endif
    {RelationRelationId, Anum_pg_class_relhasindex, BOOLOID, kMayHave},
    {RelationRelationId, Anum_pg_class_relhasrules, BOOLOID, kMayHave},
    {RelationRelationId, Anum_pg_class_relhastriggers, BOOLOID, kMayHave},
    {RelationRelationId, Anum_pg_class_relhassubclass, BOOLOID, kMayHave},
    // ANALYZE of a table whose last child was dropped writes a new version of its row. These are of
    // rows that initdb has frozen, and of no place.
    {RelationRelationId, MinTransactionIdAttributeNumber, XIDOID, FrozenTransactionId},
    {RelationRelationId, MaxTransactionIdAttributeNumber, XIDOID, InvalidTransactionId},
    {RelationRelationId, MinCommandIdAttributeNumber, CIDOID, FirstCommandId},
    {RelationRelationId, MaxCommandIdAttributeNumber, CIDOID, FirstCommandId},
    {RelationRelationId, SelfItemPointerAttributeNumber, TIDOID, InvalidOffsetNumber},
    // VACUUM writes the oldest transaction that is in the table.
    {RelationRelationId, Anum_pg_class_relfrozenxid, XIDOID, FirstNormalTransactionId},
    // A new table gets the number of the next multixact. Each row that two transactions lock raises
    // this number by one.
    {RelationRelationId, Anum_pg_class_relminmxid, XIDOID, FirstMultiXactId},
    // The oldest of all tables
    {DatabaseRelationId, Anum_pg_database_datfrozenxid, XIDOID, FirstNormalTransactionId},
    {DatabaseRelationId, Anum_pg_database_datminmxid, XIDOID, FirstMultiXactId},
    // TRUNCATE, VACUUM FULL and the like give a table another file. Mapped catalogs have 0.
    {RelationRelationId, Anum_pg_class_relfilenode, OIDOID, 0},
    // Whether an older version of an indexed row may still be seen
    {IndexRelationId, Anum_pg_index_indcheckxmin, BOOLOID, 0},
};

const ToldColumn* find_column(Oid catalog, AttrNumber number) {
  for (const ToldColumn& column : kColumns) {
    if (column.catalog == catalog && column.column == number) return &column;
  }
  return nullptr;
}

// The column of a catalog with the class of the object of each row, of which some may be large
// objects. 0: there is none.
AttrNumber column_of_class(Oid catalog) {
  switch (catalog) {
    case SharedDependRelationId:
      return Anum_pg_shdepend_classid;
    case DescriptionRelationId:
      return Anum_pg_description_classoid;
    case SecLabelRelationId:
      return Anum_pg_seclabel_classoid;
    default:
      return 0;
  }
}

Node* condition(Oid function, AttrNumber column, Const* value) {
  Var* shown = makeVar(1, column, OIDOID, -1, InvalidOid, 0);
  return as<Node>(makeFuncExpr(function, BOOLOID, list_make2(shown, value), InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL));
}

bool is_read(AttrNumber column, const Bitmapset* columns) {
  return bms_is_member(column - FirstLowInvalidHeapAttributeNumber, columns);
}

Datum datum_of(const ToldColumn& column) {
  switch (column.type) {
    case FLOAT4OID:
      return Float4GetDatum(static_cast<float4>(column.constant));
    case BOOLOID:
      return BoolGetDatum(column.constant != 0);
    case XIDOID:
      return TransactionIdGetDatum(static_cast<TransactionId>(column.constant));
    case CIDOID:
      return CommandIdGetDatum(static_cast<CommandId>(column.constant));
    case TIDOID: {
      auto* place = static_cast<ItemPointer>(palloc(sizeof(ItemPointerData)));
      ItemPointerSet(place, InvalidBlockNumber, static_cast<OffsetNumber>(column.constant));
      return PointerGetDatum(place);
    }
    default:
      return Int32GetDatum(column.constant);
  }
}

}  // namespace

bool tells_of_rows(Oid catalog, AttrNumber column) {
  return find_column(catalog, column) != nullptr;
}

Const* constant_for(Oid catalog, AttrNumber column) {
  const ToldColumn* found = find_column(catalog, column);
  return makeConst(found->type, -1, InvalidOid, get_typlen(found->type), datum_of(*found), false,
                   get_typbyval(found->type));
}

Node* condition_on_rows(Oid catalog) {
  if (catalog == LargeObjectMetadataRelationId) {
    Const* right = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum("USAGE"),
                             false, false);
    return condition(F_PG_HAS_ROLE_OID_TEXT, Anum_pg_largeobject_metadata_lomowner, right);
  }
  const AttrNumber column = column_of_class(catalog);
  if (column == 0) return nullptr;
  return condition(F_OIDNE, column,
                   makeConst(OIDOID, -1, InvalidOid, sizeof(Oid),
                             ObjectIdGetDatum(LargeObjectRelationId), false, true));
}

bool reads_facts(Oid catalog, const Bitmapset* columns) {
  const bool has_rows_of_others =
      catalog == LargeObjectMetadataRelationId || column_of_class(catalog) != 0;
  if (has_rows_of_others && !bms_is_member(kHasCondition, columns)) return true;
  for (const ToldColumn& column : kColumns) {
    if (column.catalog != catalog) continue;
    if (is_read(InvalidAttrNumber, columns) || is_read(column.column, columns)) return true;
  }
  return false;
}

}  // namespace dpquantile
