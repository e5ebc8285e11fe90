#include "pg/facts/unique_key.hpp"

#include <algorithm>
#include <initializer_list>

#include "pg/grants/reference.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type_d.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

struct Table {
  int number;
  const Bitmapset* known;
};

bool is_column(Node* expression, const Table& table, AttrNumber number) {
  expression = without_relabel(expression);
  if (!IsA(expression, Var)) return false;
  const auto* column = as<Var>(expression);
  return column->varlevelsup == 0 && static_cast<int>(column->varno) == table.number &&
         column->varattno == number;
}

// Whether all its columns are.
bool is_known(const Node* expression, const Table& table) {
  return !any_node(expression, [&](const Node* node) {
    if (!IsA(node, Var)) return false;
    const auto* column = as<Var>(node);
    return column->varlevelsup == 0 && !bms_is_member(static_cast<int>(column->varno), table.known);
  });
}

bool is_one_of(Oid type, std::initializer_list<Oid> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Whether different values of a type are never equal to the same value of another. A date and a
// timestamp in the hours or days that a time zone skips are equal to the timestamptz of later ones.
bool stay_different(Oid unique, Oid other) {
  if (unique == other || unique == TIMESTAMPTZOID) return true;
  return (is_one_of(unique, {INT2OID, INT4OID, INT8OID}) &&
          is_one_of(other, {INT2OID, INT4OID, INT8OID})) ||
         (is_one_of(unique, {FLOAT4OID, FLOAT8OID}) && is_one_of(other, {FLOAT4OID, FLOAT8OID})) ||
         (is_one_of(unique, {DATEOID, TIMESTAMPOID}) && is_one_of(other, {DATEOID, TIMESTAMPOID}));
}

bool compares_as(const OpExpr* condition, Oid family, Oid collation) {
  if (get_op_opfamily_strategy(condition->opno, family) != BTEqualStrategyNumber) return false;
  return !OidIsValid(collation) || condition->inputcollid == collation;
}

bool fixes_column(Node* condition, const Table& table, AttrNumber number, Oid family,
                  Oid collation) {
  if (!IsA(condition, OpExpr)) return false;
  const auto* equality = as<OpExpr>(condition);
  if (list_length(equality->args) != 2 || !compares_as(equality, family, collation)) return false;
  auto* left = static_cast<Node*>(linitial(equality->args));
  auto* right = static_cast<Node*>(lsecond(equality->args));
  Oid left_type;
  Oid right_type;
  op_input_types(equality->opno, &left_type, &right_type);
  return (is_column(left, table, number) && is_known(right, table) &&
          stay_different(left_type, right_type)) ||
         (is_column(right, table, number) && is_known(left, table) &&
          stay_different(right_type, left_type));
}

bool conditions_fix_column(const List* conditions, const Table& table, AttrNumber number,
                           Oid family, Oid collation) {
  for (auto* node : each<Node>(conditions)) {
    if (fixes_column(node, table, number, family, collation)) {
      return true;
    }
  }
  return false;
}

bool is_unique_key(Relation index) {
  const auto* entry = index->rd_index;
  return index->rd_rel->relam == BTREE_AM_OID && entry->indisunique && entry->indisvalid &&
         entry->indisready && entry->indislive && entry->indimmediate &&
         heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, nullptr) &&
         heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, nullptr);
}

bool conditions_fix_key(const List* conditions, const Table& table, Relation index) {
  if (!is_unique_key(index)) return false;
  const int columns = IndexRelationGetNumberOfKeyAttributes(index);
  for (int i = 0; i < columns; ++i) {
    const Oid family = index->rd_opfamily[i];
    if (!passes_gate(OperatorFamilyRelationId, family)) return false;
    if (!conditions_fix_column(conditions, table, index->rd_index->indkey.values[i], family,
                               index->rd_indcollation[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool conditions_fix_column(const List* conditions, int number, const Bitmapset* known,
                           AttrNumber column, Oid family) {
  return conditions_fix_column(conditions, Table{number, known}, column, family, InvalidOid);
}

namespace {

bool is_of(Node* expression, const Bitmapset* entries) {
  return contain_var_clause(expression) && is_known(expression, Table{0, entries});
}

}  // namespace

bool can_be_hashed(const List* conditions, int number, const Bitmapset* known) {
  const Bitmapset* table = bms_make_singleton(number);
  bool is_compared = false;
  for (auto* condition : each<Node>(conditions)) {
    if (!IsA(condition, OpExpr) || list_length(as<OpExpr>(condition)->args) != 2) continue;
    const auto* equality = as<OpExpr>(condition);
    auto* left = static_cast<Node*>(linitial(equality->args));
    auto* right = static_cast<Node*>(lsecond(equality->args));
    const bool compares =
        (is_of(left, table) && is_of(right, known)) || (is_of(right, table) && is_of(left, known));
    if (compares && op_hashjoinable(equality->opno, exprType(left))) return true;
    is_compared = is_compared || (compares && op_mergejoinable(equality->opno, exprType(left)));
  }
  return !is_compared;
}

Oid index_that_fixes_row(const List* conditions, Oid table_oid, int number,
                         const Bitmapset* known) {
  const Table table = {number, known};
  Relation relation = table_open(table_oid, AccessShareLock);
  List* indexes = RelationGetIndexList(relation);
  Oid found = InvalidOid;
  for (const Oid oid : each_oid(indexes)) {
    if (OidIsValid(found)) break;
    Relation index = index_open(oid, AccessShareLock);
    if (conditions_fix_key(conditions, table, index)) found = oid;
    index_close(index, AccessShareLock);
  }
  table_close(relation, NoLock);
  return found;
}

namespace {

bool is_key_among(Relation table, Relation index, const Bitmapset* columns) {
  if (!is_unique_key(index)) return false;
  for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); ++i) {
    const AttrNumber column = index->rd_index->indkey.values[i];
    const bool is_known = bms_is_member(column, columns) &&
                          TupleDescAttr(RelationGetDescr(table), column - 1)->attnotnull;
    if (!is_known) return false;
  }
  return true;
}

}  // namespace

bool are_unique(Oid table, const Bitmapset* columns) {
  if (has_children_besides_partitions(table)) return false;
  Relation relation = table_open(table, AccessShareLock);
  bool found = false;
  for (const Oid oid : each_oid(RelationGetIndexList(relation))) {
    if (found) break;
    Relation index = index_open(oid, AccessShareLock);
    found = is_key_among(relation, index, columns);
    index_close(index, AccessShareLock);
  }
  table_close(relation, NoLock);
  return found;
}

// The row of pg_index is written anew when the index becomes valid.
bool is_as_old(Oid index, Snapshot snapshot) {
  HeapTuple row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(row)) return false;
  const TransactionId maker = HeapTupleHeaderGetXmin(row->t_data);
  ReleaseSysCache(row);
  if (!TransactionIdIsNormal(maker)) return true;
  return !TransactionIdIsCurrentTransactionId(maker) && IsMVCCSnapshot(snapshot) &&
         !XidInMVCCSnapshot(maker, snapshot);
}

}  // namespace dpquantile
