#include "pg/plain/public_groups.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/private_function.hpp"
#include "pg/plain/public_rows.hpp"
#include "pg/plain/rows_below.hpp"
#include "pg/plain/table_keys.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/permissions_of_entry.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
}

namespace dpquantile {

namespace {

struct PublicGroups : RowsBelow {  // whose keys are the columns of the table
  int table;                       // its number in the range table
  List* items;                     // the rest of FROM
  List* of_table;                  // the conditions on the table alone, or on nothing
  List* of_both;                   // those on the table and the rest
  List* of_rows;                   // those on the rest alone
};

// ---- The table -----------------------------------------------------------------------------

// A table of which the role's own rights decide. Row security has none in the place of its name.
bool is_public_table(const Level* level, int number) {
  const Entry& entry = entry_of(level, number);
  if (entry.table->rtekind != RTE_RELATION || entry.borrowed != nullptr) return false;
  if (entry.table->relkind != RELKIND_RELATION || entry.table->tablesample != nullptr) return false;
  if (entry.table->securityQuals != NIL) return false;
  return !OidIsValid(permissions_of_relation(level->query, entry.table)->checkAsUser);
}

// The only entry of which keys have columns, or 0.
int entry_of_keys(const Query* query) {
  int found = 0;
  for (auto* clause : each<SortGroupClause>(query->groupClause)) {
    Node* key = get_sortgroupclause_expr(clause, query->targetList);
    for (const auto* column : each<const Var>(pull_vars_of_level(key, 0))) {
      const int entry = static_cast<int>(column->varno);
      if ((found != 0 && found != entry) || column->varattno < 1) return 0;
      found = entry;
    }
  }
  return found;
}

// ---- Keys that are compared with it --------------------------------------------------------

// Adds the conditions of inner joins that no outer join may leave out.
void add_terms_of_joins(const Node* part, List** terms) {
  if (!IsA(part, JoinExpr) || as<JoinExpr>(part)->jointype != JOIN_INNER) return;
  const auto* join = as<JoinExpr>(part);
  *terms = list_concat(*terms, terms_of(join->quals));
  add_terms_of_joins(join->larg, terms);
  add_terms_of_joins(join->rarg, terms);
}

List* terms_of_joins(const Query* query) {
  List* terms = list_copy(terms_of(query->jointree->quals));
  for (const auto* part : each<const Node>(query->jointree->fromlist)) {
    add_terms_of_joins(part, &terms);
  }
  return terms;
}

const Var* own_column(const void* side) {
  const auto* column = static_cast<const Var*>(side);
  return IsA(column, Var) && column->varlevelsup == 0 ? column : nullptr;
}

bool is_column_of_public_table(const Level* level, const Var* column) {
  return column->varattno > 0 && is_public_table(level, static_cast<int>(column->varno));
}

// The column of a public table that a join says to be equal to this one of other rows, and that
// looks like it; null if there is none.
const Var* equal_public_column(const Level* level, const List* terms, const Var* column) {
  if (is_column_of_public_table(level, column) || !looks_like_its_equals(as<Node>(column))) {
    return nullptr;
  }
  for (const auto* term : each<const OpExpr>(terms)) {
    if (!IsA(term, OpExpr) || list_length(term->args) != 2) continue;
    const Var* left = own_column(linitial(term->args));
    const Var* right = own_column(lsecond(term->args));
    if (left == nullptr || right == nullptr) continue;
    const Var* other = equal(left, column) ? right : equal(right, column) ? left : nullptr;
    const bool is_same_type = other != nullptr && other->vartype == column->vartype &&
                              other->vartypmod == column->vartypmod &&
                              other->varcollid == column->varcollid;
    if (is_same_type && is_column_of_public_table(level, other) &&
        op_mergejoinable(term->opno, column->vartype)) {
      return other;
    }
  }
  return nullptr;
}

// The level's answers, over the columns of public tables with which its keys are compared.
// Arguments of aggregates stay.
template <class Tree>
Tree* over_public_columns(const Level* level, const List* terms, Tree* tree) {
  return mapped(tree, [=](Node* node) -> Node* {
    if (IsA(node, Aggref)) return node;
    const Var* column = own_column(node);
    const Var* other = column == nullptr ? nullptr : equal_public_column(level, terms, column);
    return other == nullptr ? nullptr : static_cast<Node*>(copyObjectImpl(other));
  });
}

// Whether a condition says that a column is equal to a value, or one of a list, without columns.
bool fixes_column(Node* term) {
  const bool is_one = IsA(term, OpExpr);
  if (!is_one && !(IsA(term, ScalarArrayOpExpr) && as<ScalarArrayOpExpr>(term)->useOr))
    return false;
  const List* sides = is_one ? as<OpExpr>(term)->args : as<ScalarArrayOpExpr>(term)->args;
  const Oid operation = is_one ? as<OpExpr>(term)->opno : as<ScalarArrayOpExpr>(term)->opno;
  if (list_length(sides) != 2 || own_column(linitial(sides)) == nullptr) return false;
  auto* value = static_cast<Node*>(lsecond(sides));
  return op_mergejoinable(operation, exprType(static_cast<const Node*>(linitial(sides)))) &&
         !contain_var_clause(value);
}

// ---- FROM and WHERE ------------------------------------------------------------------------

Bitmapset* entries_of(const Node* part) {
  if (IsA(part, RangeTblRef)) return bms_make_singleton(as<RangeTblRef>(part)->rtindex);
  const auto* join = as<JoinExpr>(part);
  return bms_union(entries_of(join->larg), entries_of(join->rarg));
}

// Takes the table out of inner joins. Returns false if it is in another one.
bool take_out(PublicGroups* groups, Node* part, List** terms) {
  if (!bms_is_member(groups->table, entries_of(part))) {
    groups->items = lappend(groups->items, part);
    return true;
  }
  if (IsA(part, RangeTblRef)) return true;
  const auto* join = as<JoinExpr>(part);
  *terms = list_concat(*terms, terms_of(join->quals));
  return join->jointype == JOIN_INNER && take_out(groups, join->larg, terms) &&
         take_out(groups, join->rarg, terms);
}

Bitmapset* entries_in(const Node* term) {
  Bitmapset* entries = nullptr;
  for (const auto* column : each<const Var>(pull_vars_of_level(const_cast<Node*>(term), 0))) {
    entries = bms_add_member(entries, static_cast<int>(column->varno));
  }
  return entries;
}

// What fixes a column of the rows fixes the column of the table with which it is compared.
void add_conditions_of_table(const Level* level, PublicGroups* groups) {
  const List* terms = terms_of_joins(level->query);
  for (auto* term : each<Node>(groups->of_rows)) {
    if (!fixes_column(term)) continue;
    Node* same = over_public_columns(level, terms, term);
    const Bitmapset* entries = entries_in(same);
    if (bms_is_member(groups->table, entries) && bms_num_members(entries) == 1) {
      groups->of_table = lappend(groups->of_table, same);
    }
  }
}

bool take_apart_from(const Level* level, PublicGroups* groups) {
  const Query* query = level->query;
  List* terms = list_copy(terms_of(query->jointree->quals));
  for (auto* part : each<Node>(query->jointree->fromlist)) {
    if (!take_out(groups, part, &terms)) return false;
  }
  for (auto* term : each<Node>(terms)) {
    if (contain_volatile_functions(term)) return false;
    const Bitmapset* entries = entries_in(term);
    const bool has_table = bms_is_member(groups->table, entries);
    List** kind = bms_is_empty(entries) || (has_table && bms_num_members(entries) == 1)
                      ? &groups->of_table
                  : has_table ? &groups->of_both
                              : &groups->of_rows;
    *kind = lappend(*kind, term);
  }
  add_conditions_of_table(level, groups);
  return groups->items != NIL && groups->of_both != NIL;
}

// Whether conditions join the rest without the table.
bool is_joined_without(const PublicGroups& groups) {
  Bitmapset* joined = entries_of(static_cast<const Node*>(linitial(groups.items)));
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto* item : each<const Node>(groups.items)) {
      const Bitmapset* entries = entries_of(item);
      if (bms_is_subset(entries, joined)) continue;
      for (const auto* term : each<const Node>(groups.of_rows)) {
        const Bitmapset* compared = entries_in(term);
        if (!bms_overlap(compared, entries) || !bms_overlap(compared, joined)) continue;
        joined = bms_add_members(joined, entries);
        grows = true;
        break;
      }
    }
  }
  for (const auto* item : each<const Node>(groups.items)) {
    if (!bms_is_subset(entries_of(item), joined)) return false;
  }
  return true;
}

// ---- The rows of the table -----------------------------------------------------------------

// A condition on a table whose value is known for each of its rows while the query is planned.
struct Filter {
  PreparedExpression condition;
  List* columns;  // Var
  List* values;   // Const, those of a row
};

Filter filter_of(const Level* level, const List* conditions) {
  Filter filter{};
  List* computed = NIL;
  filter.columns = NIL;
  for (auto* condition : each<Node>(conditions)) {
    List* columns = NIL;
    for (auto* column : each<Var>(pull_vars_of_level(condition, 0))) {
      columns = list_append_unique(columns, column);
    }
    if (columns == NIL || !can_be_evaluated(condition, columns)) continue;
    computed = lappend(computed, condition);
    filter.columns = list_concat_unique(filter.columns, columns);
  }
  if (computed == NIL) return {};
  for (const auto* column : each<const Var>(filter.columns)) {
    int16 length;
    bool by_value;
    get_typlenbyval(column->vartype, &length, &by_value);
    filter.values = lappend(filter.values, makeConst(column->vartype, column->vartypmod,
                                                     column->varcollid, length, 0, true, by_value));
  }
  filter.condition =
      prepare_expression(level, as<Node>(make_ands_explicit(computed)), filter.columns);
  return filter;
}

bool passes(const Filter& filter, TupleTableSlot* row) {
  if (filter.columns == NIL) return true;
  const ListCell* cell;
  foreach (cell, filter.values) {
    auto* value = static_cast<Const*>(lfirst(cell));
    const auto* column =
        static_cast<const Var*>(list_nth(filter.columns, foreach_current_index(cell)));
    value->constvalue = slot_getattr(row, column->varattno, &value->constisnull);
  }
  const NullableDatum result = compute(filter.condition, filter.values);
  return !result.isnull && DatumGetBool(result.value);
}

// How many rows of the table the conditions on it may leave, at most one more than kMaxElements;
// those that depend on what is known only later are left out. None if the rows cannot be read. What
// PostgreSQL has estimated changes with each ANALYZE, so the rows are counted.
std::optional<int> most_groups(const Level* level, const PublicGroups& groups) {
  const Oid relation = rt_fetch(groups.table, level->query->rtable)->relid;
  if (!ActiveSnapshotSet() || pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) != ACLCHECK_OK) {
    return std::nullopt;
  }
  const Filter filter = filter_of(level, groups.of_table);
  PublicScan scan;
  if (!begin_scan(&scan, relation, sorted_numbers(filter.columns), {}, GetActiveSnapshot())) {
    return std::nullopt;
  }
  int rows = 0;
  while (rows <= kMaxElements && next_row(&scan)) {
    if (passes(filter, scan.slot)) ++rows;
  }
  end_scan(&scan);
  return scan.is_too_large ? std::nullopt : std::optional(rows);
}

// ---- Columns -------------------------------------------------------------------------------

// Columns of joins (USING) and whole rows stand for others.
bool has_plain_columns(const Query* query) {
  const auto is_other = [=](const Node* node) {
    if (!IsA(node, Var)) return IsA(node, SubLink);
    const auto* column = as<Var>(node);
    if (column->varlevelsup > 0) return false;
    return column->varattno < 1 || rt_fetch(column->varno, query->rtable)->rtekind == RTE_JOIN;
  };
  return !any_node(query->targetList, is_other) && !any_node(query->havingQual, is_other) &&
         !any_node(query->jointree, is_other);
}

void add_columns_of_table(PublicGroups* groups, const void* expressions) {
  for (auto* column :
       each<Var>(pull_vars_of_level(const_cast<Node*>(static_cast<const Node*>(expressions)), 0))) {
    if (static_cast<int>(column->varno) == groups->table) {
      groups->keys = list_append_unique(groups->keys, column);
    }
  }
}

bool has_column_of_table(const PublicGroups& groups, const List* expressions) {
  return bms_is_member(groups.table, entries_in(as<Node>(expressions)));
}

// What aggregates read is computed below, without the table.
bool find_all_columns(const Query* query, PublicGroups* groups) {
  add_columns_of_table(groups, query->targetList);
  add_columns_of_table(groups, query->havingQual);
  add_columns_of_table(groups, groups->of_table);
  add_columns_of_table(groups, groups->of_both);
  if (find_columns(as<Node>(query->targetList), groups) ||
      find_columns(query->havingQual, groups)) {
    return false;
  }
  if (has_column_of_table(*groups, groups->columns)) return false;
  for (auto* column : each<Var>(pull_vars_of_level(as<Node>(groups->of_both), 0))) {
    if (static_cast<int>(column->varno) != groups->table) add_column(groups, as<Node>(column));
  }
  return true;
}

// ---- The new query -------------------------------------------------------------------------

void append_columns(StringInfo text, const PublicGroups& groups, Oid relation) {
  for (const auto* column : each<const Var>(groups.keys)) {
    appendStringInfo(text, "k.%s, ",
                     quote_identifier(get_attname(relation, column->varattno, false)));
  }
  for (int i = 0; i < list_length(groups.columns); ++i) appendStringInfo(text, "s.c%d, ", i);
}

// The new query with NULLs in the place of the rows, as text. The condition of the join names all
// columns, so that the parser makes those that stand in it.
char* template_of(const PublicGroups& groups, const RangeTblEntry* table) {
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfoString(&text, "SELECT ");
  append_columns(&text, groups, table->relid);
  appendStringInfo(&text, "s.present FROM %s%s k LEFT JOIN (SELECT ", table->inh ? "" : "ONLY ",
                   quote_qualified_identifier(get_namespace_name(get_rel_namespace(table->relid)),
                                              get_rel_name(table->relid)));
  append_nulls(&text, "c", groups.columns);
  appendStringInfoString(&text, "true AS present) s ON ROW(");
  append_columns(&text, groups, table->relid);
  appendStringInfoString(&text, "s.present) IS NULL");
  return text.data;
}

void find_new_columns(const Query* made, PublicGroups* groups) {
  for (auto* column : each<TargetEntry>(made->targetList)) {
    const bool is_key = list_length(groups->new_keys) < list_length(groups->keys);
    List** columns = is_key ? &groups->new_keys : &groups->new_columns;
    *columns = lappend(*columns, column->expr);
  }
}

// The conditions, in which these columns stand for those of the level.
Node* over(const PublicGroups& groups, List* conditions, const List* columns) {
  const List* old = list_concat_copy(groups.keys, groups.columns);
  List* moved = mapped(conditions, [&](Node* node) { return counterpart(old, columns, node); });
  return moved == NIL ? nullptr : as<Node>(make_ands_explicit(moved));
}

// A condition on the table may be a part of what chooses its row, such as one of two columns of its
// key. So it stands in the join, too.
void fill_join(Query* made, const PublicGroups& groups) {
  auto* join = static_cast<JoinExpr*>(linitial(made->jointree->fromlist));
  const List* named = as<RowExpr>(as<NullTest>(join->quals)->arg)->args;
  join->quals = over(groups, list_concat_copy(groups.of_both, groups.of_table), named);
  made->jointree->quals = over(groups, groups.of_table, groups.new_keys);
}

// Whether FROM has a join of this number.
bool has_join(const Query* query, int number) {
  return any_node(query->jointree, [=](const Node* node) {
    return IsA(node, JoinExpr) && as<JoinExpr>(node)->rtindex == number;
  });
}

// PostgreSQL cannot write a query with the columns of a join that FROM does not have.
void forget_joins_taken_apart(const Query* query) {
  int number = 0;
  for (auto* entry : each<RangeTblEntry>(query->rtable)) {
    ++number;
    if (entry->rtekind != RTE_JOIN || has_join(query, number)) continue;
    RangeTblEntry* nothing = makeNode(RangeTblEntry);
    nothing->rtekind = RTE_RESULT;
    nothing->eref = makeAlias("*RESULT*", NIL);
    *entry = *nothing;
  }
}

Query* make_rows(Query* query, const PublicGroups& groups) {
  Query* source = make_source(query);
  source->jointree = makeFromExpr(
      groups.items, groups.of_rows == NIL ? nullptr : as<Node>(make_ands_explicit(groups.of_rows)));
  forget_joins_taken_apart(source);
  add_source_columns(source, groups.columns, "c");
  add_source_column(source, bool_constant(true), "present");
  put_below(source);
  return source;
}

[[noreturn]] void refuse_without_groups(const PlainLevel* level, Oid relation) {
  refuse(
      level->refused, kNowhere,
      psprintf("no row of \"%s\" is left, so that the answer has no group", get_rel_name(relation)),
      "The groups are those of the rows of this table that conditions on it let pass. Ask the "
      "table itself which rows there are: it is public.");
}

bool find_groups(const PlainLevel* level, TablesOfGroups tables, PublicGroups* groups) {
  const Query* query = level->select->query;
  groups->moves_ctes = query->cteList != NIL;
  groups->table = entry_of_keys(query);
  if (groups->table == 0 || !is_public_table(level->select, groups->table)) return false;
  const bool is_alone = !is_joined_with_table(level->select, groups->table);
  if (tables == TablesOfGroups::kSmallAndAlone && !is_alone) return false;
  if (!has_plain_columns(query)) return false;
  for (const auto* table : each<const RangeTblEntry>(query->rtable)) {
    if (table->lateral) return false;
  }
  if (!take_apart_from(level->select, groups) || !is_joined_without(*groups) ||
      !find_all_columns(query, groups)) {
    return false;
  }
  const auto rows = most_groups(level->select, *groups);
  if (rows == 0) refuse_without_groups(level, rt_fetch(groups->table, query->rtable)->relid);
  return tables == TablesOfGroups::kAll || (rows && *rows <= kMaxElements);
}

}  // namespace

Node* group_by_public_table(PlainLevel* level, TablesOfGroups tables) {
  Query* query = level->select->query;
  PublicGroups groups{};
  List* targets = query->targetList;
  Node* having = query->havingQual;
  const List* terms = terms_of_joins(query);
  query->targetList = over_public_columns(level->select, terms, targets);
  query->havingQual = over_public_columns(level->select, terms, having);
  const bool is_as_written = equal(query->targetList, targets);
  if (tables == TablesOfGroups::kAll && !is_as_written) tables = TablesOfGroups::kSmall;
  if (!find_groups(level, tables, &groups)) {
    query->targetList = targets;
    query->havingQual = having;
    return nullptr;
  }
  check_columns(level, groups);
  Query* made = parse_template(template_of(groups, rt_fetch(groups.table, query->rtable)));
  // Errors name it.
  static_cast<RangeTblEntry*>(linitial(made->rtable))->eref->aliasname =
      rt_fetch(groups.table, query->rtable)->eref->aliasname;
  find_new_columns(made, &groups);
  fill_join(made, groups);
  static_cast<RangeTblEntry*>(lsecond(made->rtable))->subquery = make_rows(query, groups);
  select_from_made(query, made, groups);
  read_again(level->select);
  return static_cast<Node*>(llast(groups.new_columns));
}

}  // namespace dpquantile
