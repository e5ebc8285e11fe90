#include "pg/protect/public_level.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/distinct_values.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

constexpr int kMostTables = 100;

constexpr char kLevelHint[] =
    "Use SELECT with WHERE, joins, GROUP BY or DISTINCT there, and ordinary tables. Or join the "
    "table itself.";

[[noreturn]] void refuse_level(const JudgedLevel* level, int number, const char* reason) {
  refuse(level->statement->refused, kNowhere,
         psprintf("\"%s\" cannot be joined with protected rows: %s",
                  rt_fetch(number, level->query->rtable)->eref->aliasname, reason),
         kLevelHint);
}

// ---- What a public level may have ----------------------------------------------------------

const char* unsupported_clause(const Query* query) {
  if (query->limitCount != nullptr || query->limitOffset != nullptr)
    return "it has LIMIT or OFFSET";
  if (query->setOperations != nullptr) return "it has UNION, INTERSECT or EXCEPT";
  if (query->hasWindowFuncs) return "it has window functions";
  if (query->hasDistinctOn) return "it has DISTINCT ON";
  if (query->groupingSets != NIL || query->groupDistinct) return "it has grouping sets";
  if (query->hasTargetSRFs) return "it has set-returning functions in SELECT";
  if (query->rowMarks != NIL) return "it locks rows";
  if (query->groupClause != NIL && query->distinctClause != NIL) {
    return "it has both GROUP BY and DISTINCT";
  }
  return nullptr;
}

// What a view reads is read with the rights of its owner.
bool is_of_view(const Query* query) {
  for (const auto* table : each<const RangeTblEntry>(query->rtable)) {
    const RelationPermissions* permissions = permissions_of(query, table);
    if (permissions != nullptr && OidIsValid(permissions->checkAsUser)) return true;
  }
  return false;
}

bool is_public_entry(const JudgedEntry& entry) {
  return entry.is_joined_table || is_list(entry) || entry.public_level != nullptr;
}

void describe_entry(JudgedLevel* level, int number) {
  describe_list(level, number);
  if (!is_list(entry_of(level, number))) describe_public_level(level, number);
  const JudgedEntry& entry = entry_of(level, number);
  if (entry.is_joined_table) {
    List** tables = &level->statement->public_tables;
    *tables = list_append_unique_oid(*tables, rt_fetch(number, level->query->rtable)->relid);
  }
  if (is_public_entry(entry)) return;
  refuse_level(level, number,
               "it is neither an ordinary table without children and row security nor a list of "
               "constants");
}

void read_part(PublicLevel* described, Node* part, PublicPart* to);

void add_condition(PublicPart* to, Node* condition) {
  to->conditions = list_concat(to->conditions, list_copy(terms_of(condition)));
}

void read_outer_join(PublicLevel* described, const JoinExpr* join, PublicPart* to) {
  const bool is_left = join->jointype == JOIN_LEFT;
  auto* other = static_cast<PublicPart*>(palloc0(sizeof(PublicPart)));
  read_part(described, is_left ? join->larg : join->rarg, to);
  read_part(described, is_left ? join->rarg : join->larg, other);
  add_condition(other, join->quals);
  described->others = lappend(described->others, other);
}

void read_join(PublicLevel* described, const JoinExpr* join, PublicPart* to) {
  if (join->jointype == JOIN_LEFT || join->jointype == JOIN_RIGHT) {
    return read_outer_join(described, join, to);
  }
  if (join->jointype != JOIN_INNER) {
    refuse(described->level->statement->refused, exprLocation(as<const Node>(join)),
           "only inner, left and right joins of tables are supported beside protected rows",
           "Write LEFT JOIN, RIGHT JOIN or JOIN.");
  }
  read_part(described, join->larg, to);
  read_part(described, join->rarg, to);
  add_condition(to, join->quals);
}

void read_part(PublicLevel* described, Node* part, PublicPart* to) {
  if (IsA(part, JoinExpr)) return read_join(described, as<JoinExpr>(part), to);
  const int number = as<RangeTblRef>(part)->rtindex;
  describe_entry(described->level, number);
  to->tables = bms_add_member(to->tables, number);
}

// Rewriting makes new expressions, but lists change in place.
List* as_written(const List* expressions) {
  return static_cast<List*>(copyObjectImpl(expressions));
}

void read_from(PublicLevel* described) {
  const FromExpr* from = described->level->query->jointree;
  auto* kept = static_cast<PublicPart*>(palloc0(sizeof(PublicPart)));
  for (auto* part : each<Node>(from->fromlist)) read_part(described, part, kept);
  add_condition(kept, from->quals);
  described->kept = kept;
  kept->conditions = as_written(kept->conditions);
  for (auto* other : each<PublicPart>(described->others)) {
    other->conditions = as_written(other->conditions);
  }
}

void check_aggregates(const JudgedLevel* level) {
  const Query* query = level->query;
  const bool has_aggregates = query->hasAggs || query->havingQual != nullptr;
  if (!has_aggregates || has_plain_form(query)) return;
  refuse(
      level->statement->refused, kNowhere,
      "a derived table of public rows has a clause beside its keys and aggregates",
      "Compute the rest in a query around it: SELECT region, n + 1 FROM (SELECT region, count(*) "
      "AS n FROM shops GROUP BY region) s.");
}

void read_columns(PublicLevel* described) {
  Query* query = described->level->query;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    described->shown = lappend(described->shown, copyObjectImpl(column->expr));
  }
  described->keys = as_written(get_sortgrouplist_exprs(query->groupClause, query->targetList));
}

// PostgreSQL's DISTINCT could take the rows from an index, in a node that takes no condition. The
// order of rows means nothing to a join.
void simplify(Query* query) {
  if (query->distinctClause != NIL) query->groupClause = query->distinctClause;
  query->distinctClause = NIL;
  query->sortClause = NIL;
}

PublicLevel* make_public_level(JudgedLevel* level) {
  auto* described = static_cast<PublicLevel*>(palloc0(sizeof(PublicLevel)));
  described->level = level;
  described->choices = static_cast<List**>(palloc0(sizeof(List*)));
  simplify(level->query);
  check_aggregates(level);
  read_from(described);
  read_columns(described);
  described->combines_rows = level->query->groupClause != NIL || level->query->hasAggs;
  level->statement->rewrite_public(level);
  fence(level->query);
  return described;
}

// ---- Which rows columns choose -------------------------------------------------------------

// Other types have another =: the texts 'a' and 'a ' are one value of type character.
Node* with_same_equality(Node* expression) {
  while (IsA(expression, RelabelType)) {
    auto* inner = as<Node>(as<RelabelType>(expression)->arg);
    if (equality_family(exprType(inner)) != equality_family(exprType(expression))) break;
    expression = inner;
  }
  return expression;
}

// The column of an entry that an expression is, or null.
const Var* column_behind(const JudgedLevel* level, Node* expression) {
  expression = with_same_equality(expression);
  if (!IsA(expression, Var)) return nullptr;
  const auto* column = as<Var>(expression);
  if (column->varlevelsup > 0 || column->varattno < 1) return nullptr;
  Node* merged = merged_column(level->query, column);
  return merged == nullptr ? column : column_behind(level, merged);
}

Node* shown_by(const PublicLevel* described, AttrNumber number) {
  return static_cast<Node*>(list_nth(described->shown, number - 1));
}

// Whether no two different values of a column are equal to one, and their hashes are not chosen by
// the user: a row is compared with all that have one hash.
bool may_choose(const PublicLevel* described, AttrNumber number, const JudgedEntry& entry) {
  Node* shown = shown_by(described, number);
  const Oid type = exprType(shown);
  if (!is_inside_type(type) || !OidIsValid(equality_family(type))) return false;
  if (type_is_collatable(type) && !is_inside_collation(exprCollation(shown))) return false;
  return IsA(shown, Const) || stored_column(entry, number).entry != nullptr;
}

// The columns that conditions say are equal to expressions over the entries `known`.
Bitmapset* columns_fixed(const JudgedEntry& entry, int number, const List* conditions,
                         const Bitmapset* known) {
  Bitmapset* fixed = nullptr;
  const int count = list_length(entry.public_level->shown);
  for (int i = 1; i <= count; ++i) {
    const auto column = static_cast<AttrNumber>(i);
    if (!may_choose(entry.public_level, column, entry)) continue;
    const Oid family = equality_family(exprType(shown_by(entry.public_level, column)));
    if (conditions_fix_column(conditions, number, known, column, family)) {
      fixed = bms_add_member(fixed, i);
    }
  }
  return fixed;
}

// column = constant, by the = of its type
void add_equality(List** conditions, const Var* column) {
  const TypeCacheEntry* type = lookup_type_cache(column->vartype, TYPECACHE_BTREE_OPFAMILY);
  const Oid operand = type->btree_opintype;
  const Oid equality =
      get_opfamily_member(type->btree_opf, operand, operand, BTEqualStrategyNumber);
  if (!OidIsValid(equality)) return;
  *conditions =
      lappend(*conditions,
              make_opclause(equality, BOOLOID, false, static_cast<Expr*>(copyObjectImpl(column)),
                            as<Expr>(makeNullConst(operand, -1, column->varcollid)), InvalidOid,
                            column->varcollid));
}

// The conditions with NULLs of its types in the place of a column.
List* with_nulls(const JudgedLevel* level, List* conditions, const Var* replaced) {
  return mapped(conditions, [=](Node* node) -> Node* {
    const Var* column = IsA(node, Var) ? column_behind(level, node) : nullptr;
    const bool is_replaced = column != nullptr && column->varno == replaced->varno &&
                             column->varattno == replaced->varattno;
    if (!is_replaced) return nullptr;
    const auto* named = as<Var>(node);
    return as<Node>(makeNullConst(named->vartype, named->vartypmod, named->varcollid));
  });
}

// The conditions with constants in the place of a column, which is equal to one of them. 1.0 and
// 1.00 are equal, but what is computed of them need not be.
List* with_constant(const JudgedLevel* level, List* conditions, const Var* fixed) {
  if (is_bytewise(fixed->vartype, fixed->varcollid)) {
    conditions = with_nulls(level, conditions, fixed);
  }
  add_equality(&conditions, fixed);
  return conditions;
}

List* with_constants(const PublicLevel* described, List* conditions, const Bitmapset* columns) {
  int column = -1;
  while ((column = bms_next_member(columns, column)) >= 0) {
    Node* shown = shown_by(described, static_cast<AttrNumber>(column));
    const Var* stored = column_behind(described->level, shown);
    if (stored != nullptr) conditions = with_constant(described->level, conditions, stored);
  }
  return conditions;
}

// Adds to `fixed` tables of which the conditions choose a row. Returns whether there are some.
bool add_fixed_tables(const JudgedLevel* level, const Bitmapset* tables, const List* conditions,
                      Bitmapset** fixed) {
  bool adds = false;
  int table = -1;
  while ((table = bms_next_member(tables, table)) >= 0) {
    if (bms_is_member(table, *fixed) || !fixes_row(level, table, conditions, *fixed)) continue;
    *fixed = bms_add_member(*fixed, table);
    adds = true;
  }
  return adds;
}

// The tables of which columns choose a row in each row of the level: together with conditions
// that hold in each. A row of another table may be there, or NULLs.
Bitmapset* tables_chosen(const PublicLevel* described, const Bitmapset* columns) {
  const List* conditions = with_constants(described, described->kept->conditions, columns);
  Bitmapset* chosen = nullptr;
  for (bool grows = true; grows;) {
    grows = add_fixed_tables(described->level, described->kept->tables, conditions, &chosen);
    for (const auto* other : each<const PublicPart>(described->others)) {
      grows |= add_fixed_tables(described->level, other->tables, conditions, &chosen);
    }
  }
  return chosen;
}

// The tables of which columns choose a row, together with all conditions. Those of an outer join
// choose among the rows that it adds, or else it adds NULLs.
Bitmapset* tables_fixed(const PublicLevel* described, const Bitmapset* columns) {
  List* conditions = with_constants(described, described->kept->conditions, columns);
  Bitmapset* fixed = nullptr;
  for (bool grows = true; grows;) {
    grows = add_fixed_tables(described->level, described->kept->tables, conditions, &fixed);
    for (const auto* other : each<const PublicPart>(described->others)) {
      List* own =
          list_concat_copy(with_constants(described, other->conditions, columns), conditions);
      grows |= add_fixed_tables(described->level, other->tables, own, &fixed);
    }
  }
  return fixed;
}

bool are_all_fixed(const PublicLevel* described, const Bitmapset* tables) {
  for (const auto* other : each<const PublicPart>(described->others)) {
    if (!bms_is_subset(other->tables, tables)) return false;
  }
  return bms_is_subset(described->kept->tables, tables);
}

bool is_of_tables(const JudgedLevel* level, Node* expression, const Bitmapset* tables) {
  return !any_node(expression, [=](Node* node) {
    if (!IsA(node, Var)) return false;
    const Var* column = column_behind(level, node);
    return column == nullptr || !bms_is_member(static_cast<int>(column->varno), tables);
  });
}

bool is_key_fixed(const PublicLevel* described, Node* key, const Bitmapset* columns,
                  const Bitmapset* tables) {
  int column = -1;
  while ((column = bms_next_member(columns, column)) >= 0) {
    if (equal(shown_by(described, static_cast<AttrNumber>(column)), key)) return true;
  }
  return is_of_tables(described->level, key, tables);
}

bool find_whether_one_row(const PublicLevel* described, const Bitmapset* columns) {
  if (are_all_fixed(described, tables_fixed(described, columns))) return true;
  if (!described->combines_rows) return false;
  const Bitmapset* tables = tables_chosen(described, columns);
  for (auto* key : each<Node>(described->keys)) {
    if (!is_key_fixed(described, key, columns, tables)) return false;
  }
  return true;
}

// Whether rows of the level that are equal in some columns are one row.
bool chooses_row(const PublicLevel* described, const Bitmapset* columns) {
  CHECK_FOR_INTERRUPTS();
  for (const auto* choice : each<const RowChoice>(*described->choices)) {
    if (bms_equal(choice->columns, columns)) return choice->is_one;
  }
  auto* choice = static_cast<RowChoice*>(palloc(sizeof(RowChoice)));
  *choice = {columns, find_whether_one_row(described, columns)};
  *described->choices = lappend(*described->choices, choice);
  return choice->is_one;
}

}  // namespace

void describe_public_level(JudgedLevel* level, int number) {
  const Entry& read = entry_of(level->read, number);
  const RangeTblEntry* table = rt_fetch(number, level->query->rtable);
  const bool is_query = table->rtekind == RTE_SUBQUERY || table->rtekind == RTE_CTE;
  JudgedLevel* below = is_query && read.below != nullptr ? read.below->judged : nullptr;
  if (below == nullptr || below->type != RelationType::kPublic) return;
  check_stack_depth();
  JudgedEntry* entry = &entry_of(level, number);
  if (below->as_public == nullptr) {
    // From PostgreSQL 16 on a view that is replaced by its query keeps its OID.
    if (OidIsValid(table->relid) || is_of_view(below->query)) return;
    if (table->lateral || read.below->outer_values > 0) {
      refuse_level(level, number, "it takes columns of the query around it");
    }
    if (read.cte != nullptr && read.cte->cterecursive) {
      refuse_level(level, number, "it is recursive");
    }
    // Each choice of a row looks at those of the levels below.
    if (read.below->scans > kMostTables)
      refuse_level(level, number, "it reads more than 100 tables");
    const char* clause = unsupported_clause(below->query);
    if (clause != nullptr) refuse_level(level, number, clause);
    below->as_public = make_public_level(below);
  }
  if (read.cte != nullptr) read.cte->ctematerialized = CTEMaterializeNever;
  entry->public_level = below->as_public;
}

bool fixes_row(const JudgedLevel* level, int number, const List* conditions,
               const Bitmapset* known) {
  const JudgedEntry& entry = entry_of(level, number);
  if (entry.public_level != nullptr) {
    return chooses_row(entry.public_level, columns_fixed(entry, number, conditions, known));
  }
  if (is_list(entry)) return fixes_row_of_list(level, conditions, number, known);
  const RangeTblEntry* table = rt_fetch(number, level->query->rtable);
  const Oid index = index_that_fixes_row(conditions, table->relid, number, known);
  if (!OidIsValid(index)) return false;
  List** indexes = &level->statement->indexes;
  *indexes = list_append_unique_oid(*indexes, index);
  return true;
}

StoredColumn stored_column(const JudgedEntry& entry, AttrNumber number) {
  if (number < 1) return {};
  if (entry.public_level == nullptr) {
    const bool is_stored = entry.is_joined_table || bms_is_member(number, entry.hashed_columns);
    return is_stored ? StoredColumn{&entry, number} : StoredColumn{};
  }
  const JudgedLevel* level = entry.public_level->level;
  const Var* column = column_behind(level, shown_by(entry.public_level, number));
  return column == nullptr
             ? StoredColumn{}
             : stored_column(entry_of(level, static_cast<int>(column->varno)), column->varattno);
}

}  // namespace dpquantile
