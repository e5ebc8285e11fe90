#include "pg/protect/union_rule.hpp"

#include <algorithm>

#include "pg/grants/protection_catalog.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/join_rule.hpp"
#include "pg/protect/size_bounds.hpp"
#include "pg/protect/unit_join.hpp"
#include "pg/protect/user_of_row.hpp"
#include "pg/server/nodes.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
}

namespace dpquantile {

namespace {

constexpr char kUnionHint[] =
    "Below a private aggregate, combine rows of the persons of one unit: by UNION ALL, or by "
    "UNION, INTERSECT and EXCEPT with the column that identifies the persons among their columns: "
    "SELECT count(*) FROM (SELECT id FROM persons INTERSECT SELECT person FROM visits) AS p.";

[[noreturn]] void refuse_union(const JudgedLevel* level, const char* reason, const char* hint) {
  refuse(level->statement->refused, kNowhere, reason, hint);
}

const JudgedLevel* branch_of(const JudgedLevel* level, int number) {
  return entry_of(level, number).source;
}

int count_branches(const JudgedLevel* level) {
  return list_length(level->query->rtable);
}

// The hint, unless one of the tables names its persons in another one.
[[noreturn]] void refuse_without_person(const JudgedLevel* level, const char* reason,
                                        const char* hint) {
  for (int number = 1; number <= count_branches(level); ++number) {
    const Level* branch = entry_of(level->read, number).below;
    const char* other = branch == nullptr ? nullptr : hint_of_reference(branch->borrowed_rows);
    if (other != nullptr) hint = other;
  }
  refuse_union(level, reason, hint);
}

// Everything in the range table is a query of it, so that what is found of these holds for all
// rows.
void check_shape(const JudgedLevel* level) {
  const Query* query = level->query;
  const bool has_clauses = query->rowMarks != NIL || query->sortClause != NIL ||
                           query->limitCount != nullptr || query->limitOffset != nullptr;
  if (has_clauses) {
    refuse_union(level, "ORDER BY, LIMIT and FOR UPDATE of combined rows are not supported",
                 "Leave them out, or write them around the private aggregate.");
  }
  for (int number = 1; number <= count_branches(level); ++number) {
    const JudgedLevel* branch = branch_of(level, number);
    if (branch == nullptr || branch->has_public_side) refuse_combined_rows(level);
    if (branch->user_relation->user_column == 0) {
      refuse_union(level, "the table protects single rows, and not persons", kUnionHint);
    }
  }
  if (query->jointree->fromlist != NIL || query->jointree->quals != nullptr) {
    refuse_combined_rows(level);
  }
}

// What PostgreSQL takes a column of a query or set operation for.
struct ColumnType {
  Oid type;
  int32 modifier;
  Oid collation;
};

// Casts that PostgreSQL has of its own, and that never fail. Those of one kind of ids keep
// different ones apart.
bool may_cast(Oid from, Oid type) {
  switch (from) {
    case INT2OID:
      return type == INT4OID || type == INT8OID || type == NUMERICOID || type == FLOAT8OID;
    case INT4OID:
      return type == INT8OID || type == NUMERICOID || type == FLOAT8OID;
    case INT8OID:
      return type == NUMERICOID || type == FLOAT8OID;
    case FLOAT4OID:
      return type == FLOAT8OID;
    case VARCHAROID:
      return type == TEXTOID;
    case TEXTOID:
      return type == VARCHAROID;  // of any length
    default:
      return false;
  }
}

bool fits(const ColumnType& column, const ColumnType& whole, bool is_person) {
  if (column.collation != whole.collation) return false;
  const bool forgets_modifier = whole.modifier == -1;
  if (column.type == whole.type) return forgets_modifier || whole.modifier == column.modifier;
  return forgets_modifier && may_cast(column.type, whole.type) &&
         (!is_person || are_ids_of_one_kind(column.type, whole.type));
}

ColumnType type_of_operation(const SetOperationStmt* operation, int column) {
  return {list_nth_oid(operation->colTypes, column), list_nth_int(operation->colTypmods, column),
          list_nth_oid(operation->colCollations, column)};
}

ColumnType type_of_query(const Query* query, int column) {
  const auto* expression =
      as<Node>(static_cast<const TargetEntry*>(list_nth(query->targetList, column))->expr);
  return {exprType(expression), exprTypmod(expression), exprCollation(expression)};
}

ColumnType type_of_part(const JudgedLevel* level, const Node* part, int column) {
  if (!IsA(part, RangeTblRef)) return type_of_operation(as<SetOperationStmt>(part), column);
  return type_of_query(branch_of(level, as<RangeTblRef>(part)->rtindex)->query, column);
}

[[noreturn]] void refuse_types(const JudgedLevel* level, int column, Oid one, Oid other) {
  refuse_union(level,
               psprintf("column %d of the combined queries has different types or collations: %s "
                        "and %s",
                        column + 1, format_type_be(one), format_type_be(other)),
               "Cast the values to one type in each query. The column that identifies the persons "
               "must have one type in all tables.");
}

void check_type(const JudgedLevel* level, const SetOperationStmt* operation, int column) {
  const bool is_person = holds_in_source(level, column + 1, is_user_column);
  const ColumnType whole = type_of_operation(operation, column);
  const ColumnType left = type_of_part(level, operation->larg, column);
  const ColumnType right = type_of_part(level, operation->rarg, column);
  if (fits(left, whole, is_person) && fits(right, whole, is_person)) return;
  refuse_types(level, column, left.type, right.type);
}

int count_columns(const Query* query) {
  int count = 0;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    count += column->resjunk ? 0 : 1;
  }
  return count;
}

// PostgreSQL casts the values. It must not fail, and ids that differ must not be equal then.
void check_types(const JudgedLevel* level, const Node* part) {
  const int columns = list_length(level->query->targetList);
  if (IsA(part, RangeTblRef)) {
    const Query* query = branch_of(level, as<RangeTblRef>(part)->rtindex)->query;
    if (count_columns(query) != columns) refuse_combined_rows(level);
    return;
  }
  const auto* operation = as<SetOperationStmt>(part);
  if (list_length(operation->colTypes) != columns) refuse_combined_rows(level);
  check_types(level, operation->larg);
  check_types(level, operation->rarg);
  for (int column = 0; column < columns; ++column) check_type(level, operation, column);
}

// The columns of the whole are those of the set operation.
void check_columns(const JudgedLevel* level) {
  const auto* operation = as<SetOperationStmt>(level->query->setOperations);
  check_types(level, level->query->setOperations);
  for (int column = 0; column < list_length(level->query->targetList); ++column) {
    const ColumnType shown = type_of_query(level->query, column);
    const ColumnType made = type_of_operation(operation, column);
    const bool is_same = shown.type == made.type && shown.modifier == made.modifier &&
                         shown.collation == made.collation;
    if (!is_same) refuse_types(level, column, shown.type, made.type);
  }
}

void check_units(const JudgedLevel* level) {
  const Bitmapset* first = bms_make_singleton(1);
  for (int number = 2; number <= count_branches(level); ++number) {
    check_one_unit(level, {.left = first,
                           .right = bms_make_singleton(number),
                           .conditions = NIL,
                           .type = JOIN_INNER,
                           .at = nullptr,
                           .is_union = true});
  }
}

void check_person(const JudgedLevel* level) {
  for (const auto* column : each<const TargetEntry>(level->query->targetList)) {
    const bool is_person = holds_in_source(level, column->resno, is_user_of_row);
    if (is_person && has_usual_collation(as<Node>(column->expr))) return;
  }
  refuse_without_person(
      level, "no column of the combined queries is the person of the row in each of them",
      "Show the column of the persons at the same place in each query. After an outer "
      "join it is that of the table whose rows are kept.");
}

// The work of a row is that of the query with the most.
ColumnWork larger(const ColumnWork& one, const ColumnWork& other) {
  ColumnWork work{Max(one.nodes, other.nodes), longer(one.size, other.size), {}};
  for (int i = 0; i < kSizeLimits; ++i) {
    work.work.time[i] = std::max(one.work.time[i], other.work.time[i]);
  }
  return work;
}

void measure_columns(JudgedLevel* level) {
  const int columns = list_length(level->query->targetList);
  const auto count = static_cast<Size>(columns) + 1;
  level->works = static_cast<ColumnWork*>(palloc0(count * sizeof(ColumnWork)));
  for (int number = 1; number <= count_branches(level); ++number) {
    const JudgedLevel* branch = branch_of(level, number);
    for (int i = 0; i < columns; ++i) {
      level->works[i] = number == 1 ? branch->works[i] : larger(level->works[i], branch->works[i]);
    }
  }
}

bool is_empty(const JudgedLevel* level) {
  for (int number = 1; number <= count_branches(level); ++number) {
    if (!branch_of(level, number)->is_empty) return false;
  }
  return true;
}

// Whether its rows come from the rows that it is a part of.
bool is_recursive(const Query* branch) {
  for (const auto* entry : each<const RangeTblEntry>(branch->rtable)) {
    if (entry->rtekind == RTE_CTE && entry->self_reference) return true;
  }
  return false;
}

}  // namespace

void refuse_combined_rows(const JudgedLevel* level) {
  if (keeps_duplicates(level->query->setOperations)) {
    refuse_union(level, "INTERSECT ALL and EXCEPT ALL are not supported over protected rows",
                 "Leave out ALL.");
  }
  for (int number = 1; number <= count_branches(level); ++number) {
    const Level* branch = entry_of(level->read, number).below;
    if (branch == nullptr || branch->borrowed_rows != NIL || is_recursive(branch->query)) continue;
    refuse_union(
        level, "protected rows are combined with rows of a table that is not protected",
        "Ask private aggregates of the protected rows alone, and combine their answers with "
        "the other rows in the query around it.");
  }
  refuse_without_person(
      level,
      "UNION, INTERSECT or EXCEPT combines rows without telling which person each belongs "
      "to",
      kUnionHint);
}

// One value of a row may change rows of several queries. A person may have rows of each of them,
// also where each has one row of it.
void check_union(JudgedLevel* level) {
  const bool passes = attempt(level, [&] {
    check_shape(level);
    check_columns(level);
    check_units(level);
    check_person(level);
  });
  if (!passes) return;
  level->user_entry = 1;
  find_relations(level);
  level->has_one_row = false;
  level->limiting_relations = list_copy(level->relations);
  level->limiting_tables = list_copy(level->tables);
  level->has_person_groups = true;
  level->is_empty = is_empty(level);
  measure_columns(level);
}

}  // namespace dpquantile
