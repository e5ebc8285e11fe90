#include "pg/plain/table_keys.hpp"

#include "pg/borrowed/early_values.hpp"
#include "pg/borrowed/made_up_values.hpp"
#include "pg/grants/reference.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/null_values.hpp"
#include "pg/plain/public_rows.hpp"
#include "pg/server/bytewise_type.hpp"
#include "pg/server/compat.hpp"
#include "pg/server/trees.hpp"
#include "pg/vocabulary/catalog_gate.hpp"
#include "pg/vocabulary/node_functions.hpp"
#include "pg/vocabulary/total_functions.hpp"

extern "C" {
#include "access/detoast.h"
#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// ---- From a key to the table ---------------------------------------------------------------

// An entry of FROM on the way from a level to a table, or to VALUES.
struct Step {
  const Level* level;
  int entry;
};

// A key as an expression of the columns of the entry of each step; the last entry is a table or
// VALUES.
struct Way {
  List* steps;           // Step
  List* expressions;     // Node
  bool has_own_columns;  // of the table; else those that they are equal to
  // A key of other rows that the outer join of the table compares with the column of the table, and
  // what it may be in a row without one of the table; else null.
  Node* compared;
  int compared_step;         // that of the join
  List* values_without_row;  // Const
};

constexpr int kMostSteps = 50;
constexpr int kMostNodes = 200;  // of a key, which derived tables may double step by step

// Whether the rows of an entry of FROM can be read: of a table, or of VALUES.
bool is_readable(const Level* level, int entry) {
  return entry_of(level, entry).table->rtekind == RTE_VALUES || is_readable_table(level, entry);
}

bool has_other_parts(Node* expression) {
  return any_node(expression, [](const Node* node) {
    if (IsA(node, Var)) return as<Var>(node)->varlevelsup > 0 || as<Var>(node)->varattno < 1;
    return IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc) ||
           IsA(node, GroupingFunc) || IsA(node, Param);
  });
}

// PostgreSQL 16 notes in a column which outer joins may make it NULL.
Var* plain_column(const Var* column) {
  return makeVar(column->varno, column->varattno, column->vartype, column->vartypmod,
                 column->varcollid, 0);
}

// An expression over the entries of a level, none of them a join, or null.
Node* over_entries(const Level* level, Node* expression) {
  check_stack_depth();
  if (has_other_parts(expression) || count_nodes(expression, kMostNodes) > kMostNodes) {
    return nullptr;
  }
  bool has_joins = false;
  Node* found = mapped(expression, [&](Node* node) -> Node* {
    if (!IsA(node, Var)) return nullptr;
    Node* merged = merged_column(level->query, as<Var>(node));
    has_joins |= merged != nullptr;
    return merged == nullptr ? as<Node>(plain_column(as<Var>(node)))
                             : static_cast<Node*>(copyObjectImpl(merged));
  });
  return has_joins ? over_entries(level, found) : found;
}

// The only entry of which an expression has columns, or 0.
int entry_of_columns(Node* expression) {
  int found = 0;
  for (const auto* column : each<const Var>(pull_vars_of_level(expression, 0))) {
    const int entry = static_cast<int>(column->varno);
    if (found != 0 && found != entry) return 0;
    found = entry;
  }
  return found;
}

// An expression as one over the query behind an entry; null if one of its columns has no
// definition there.
Node* over_query_below(const Level* level, Node* expression, const Level** below) {
  bool is_defined = true;
  Node* found = mapped(expression, [&](Node* node) -> Node* {
    if (!IsA(node, Var)) return nullptr;
    const auto definition = definition_of(level, as<Var>(node));
    is_defined &= definition.has_value() && definition->level != level;
    if (!is_defined) return node;
    *below = definition->level;
    return static_cast<Node*>(copyObjectImpl(definition->expression));
  });
  return is_defined ? found : nullptr;
}

// A wanted column that one of these terms says to be equal to a column, and that looks like it;
// null if there is none.
template <class Wanted>
Node* equal_column(const Level* level, const List* terms, const Var* column, Wanted is_wanted) {
  if (!looks_like_its_equals(as<Node>(column))) return nullptr;
  for (auto* term : each<OpExpr>(terms)) {
    if (!IsA(term, OpExpr) || list_length(term->args) != 2) continue;
    if (!op_mergejoinable(term->opno, column->vartype)) continue;
    const auto* left = as<Var>(over_entries(level, static_cast<Node*>(linitial(term->args))));
    const auto* right = as<Var>(over_entries(level, static_cast<Node*>(lsecond(term->args))));
    if (left == nullptr || right == nullptr || !IsA(left, Var) || !IsA(right, Var)) continue;
    const Var* other = equal(left, column) ? right : equal(right, column) ? left : nullptr;
    if (other == nullptr || other->vartype != column->vartype ||
        other->vartypmod != column->vartypmod || other->varcollid != column->varcollid) {
      continue;
    }
    if (is_wanted(other)) return static_cast<Node*>(copyObjectImpl(other));
  }
  return nullptr;
}

Node* equal_column_of(const Level* level, const List* terms, const Var* column, int entry) {
  return equal_column(level, terms, column,
                      [=](const Var* other) { return static_cast<int>(other->varno) == entry; });
}

// An expression over the entries of a level as one over this entry alone.
Node* over_equal_columns(const Level* level, const List* terms, Node* expression, int entry) {
  return mapped(expression, [&](Node* node) -> Node* {
    if (!IsA(node, Var) || static_cast<int>(as<Var>(node)->varno) == entry) return nullptr;
    return equal_column_of(level, terms, as<Var>(node), entry);
  });
}

void add_step(Way* way, const Level* level, int entry, Node* expression) {
  auto* step = static_cast<Step*>(palloc(sizeof(Step)));
  *step = {level, entry};
  way->steps = lappend(way->steps, step);
  way->expressions = lappend(way->expressions, expression);
}

std::optional<Way> own_way_of(const Level* level, Node* key);

// The way of columns that inner joins say to be equal to those of an expression over the entries of
// a level.
std::optional<Way> way_of_equal_columns(const Level* level, Node* expression) {
  const List* terms = terms_of_all_rows(level);
  if (terms == NIL) return std::nullopt;
  const auto has_way = [=](const Var* column) {
    return own_way_of(level, as<Node>(const_cast<Var*>(column))).has_value();
  };
  Node* same = mapped(expression, [&](Node* node) -> Node* {
    if (!IsA(node, Var) || has_way(as<Var>(node))) return nullptr;
    return equal_column(level, terms, as<Var>(node), has_way);
  });
  return own_way_of(level, same);
}

// The way of a key through the queries of which it is a column, as far as it leads.
bool find_own_way(const Level* level, Node* key, Way* way) {
  Node* expression = over_entries(level, key);
  while (expression != nullptr && list_length(way->steps) < kMostSteps) {
    const int entry = entry_of_columns(expression);
    add_step(way, level, entry, expression);
    if (entry != 0 && is_readable(level, entry)) return true;
    const Level* below = nullptr;
    Node* over_below = entry == 0 ? nullptr : over_query_below(level, expression, &below);
    if (over_below == nullptr) return false;
    expression = over_entries(below, over_below);
    level = below;
  }
  return false;
}

std::optional<Way> own_way_of(const Level* level, Node* key) {
  Way way{};
  if (!find_own_way(level, key, &way)) return std::nullopt;
  way.has_own_columns = true;
  return way;
}

// A key of other rows has the way of columns that an inner join, of its level or of one below, says
// to be equal.
std::optional<Way> way_of(const Level* level, Node* key) {
  Way own{};
  own.has_own_columns = find_own_way(level, key, &own);
  if (own.has_own_columns) return own;
  for (int number = list_length(own.steps) - 1; number >= 0; --number) {
    const auto* step = static_cast<const Step*>(list_nth(own.steps, number));
    const auto rest =
        way_of_equal_columns(step->level, static_cast<Node*>(list_nth(own.expressions, number)));
    if (!rest) continue;
    Way way{};
    way.steps = list_concat(list_truncate(own.steps, number), rest->steps);
    way.expressions = list_concat(list_truncate(own.expressions, number), rest->expressions);
    return way;
  }
  return std::nullopt;
}

const Step& step_of(const Way& way, int number) {
  return *static_cast<const Step*>(list_nth(way.steps, number));
}

const Step& table_of(const Way& way) {
  return *static_cast<const Step*>(llast(way.steps));
}

const RangeTblEntry* read_entry(const Way& way) {
  return entry_of(table_of(way).level, table_of(way).entry).table;
}

// The name of the table, or under which the query has VALUES.
const char* name_of_source(const Way& way) {
  const RangeTblEntry* table = read_entry(way);
  if (table->rtekind == RTE_RELATION) return get_rel_name(table->relid);
  const Step& first = step_of(way, 0);
  return entry_of(first.level, first.entry).table->eref->aliasname;
}

bool is_same_way(const Way& one, const Way& other) {
  if (list_length(one.steps) != list_length(other.steps)) return false;
  for (int i = 0; i < list_length(one.steps); ++i) {
    const Step& left = step_of(one, i);
    const Step& right = step_of(other, i);
    if (left.level != right.level || left.entry != right.entry) return false;
  }
  return true;
}

// ---- Conditions ----------------------------------------------------------------------------

// The terms of rows that are joined with one of the entry of a step.
List* terms_of_joined(const Step& step) {
  return list_concat_copy(terms_of_all_rows(step.level),
                          terms_of(condition_of_outer_join(step.level->query, step.entry)));
}

// A condition of one of the levels on the way, on the rows of its entry alone: as one over the
// entry of each step from there on.
struct Condition {
  int first;          // the step of its level
  List* expressions;  // Node
  // From this step on it is that of rows that are joined with one of the table: in the place of
  // their columns it has those that the join compares these with.
  int joined;
};

// Adds the condition if it has such columns alone.
void add_condition(const Way& way, int first, Node* term, List** conditions) {
  const int steps = list_length(way.steps);
  Condition condition = {first, NIL, steps};
  Node* expression =
      contain_volatile_functions(term) ? nullptr : over_entries(step_of(way, first).level, term);
  for (int i = first; expression != nullptr; ++i) {
    const Step& step = step_of(way, i);
    if (entry_of_columns(expression) != step.entry) {
      expression = over_equal_columns(step.level, terms_of_joined(step), expression, step.entry);
      condition.joined = Min(condition.joined, i);
    }
    if (entry_of_columns(expression) != step.entry) return;
    condition.expressions = lappend(condition.expressions, expression);
    if (i + 1 == steps) {
      auto* found = static_cast<Condition*>(palloc(sizeof(Condition)));
      *found = condition;
      *conditions = lappend(*conditions, found);
      return;
    }
    const Level* below = nullptr;
    expression = over_query_below(step.level, expression, &below);
    if (expression != nullptr) expression = over_entries(below, expression);
  }
}

// The conditions on rows that are joined with one of the table; of these the first are those on all
// rows.
struct Conditions {
  List* all;     // Condition
  List* joined;  // Condition
};

Conditions conditions_of(const Way& way) {
  Conditions conditions{};
  for (int i = 0; i < list_length(way.steps); ++i) {
    const Step& step = step_of(way, i);
    for (auto* term : each<Node>(terms_of_all_rows(step.level))) {
      add_condition(way, i, term, &conditions.all);
    }
    for (auto* term :
         each<Node>(terms_of(condition_of_outer_join(step.level->query, step.entry)))) {
      add_condition(way, i, term, &conditions.joined);
    }
  }
  return conditions;
}

// ---- Rows ----------------------------------------------------------------------------------

bool is_of_usual_type(const Node* key) {
  const Oid type = exprType(key);
  if (get_typtype(type) == TYPTYPE_DOMAIN || !is_inside_type(type)) return false;
  if (!OidIsValid(lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc)) return false;
  return !type_is_collatable(type) || is_inside_collation(exprCollation(key));
}

// What is computed of a row of the table.
struct Reading {
  const Level* level;
  List* columns;  // Var
  List* values;   // Const: those of a row
  List* filters;  // PreparedExpression: conditions
  List* keys;     // PreparedExpression
  List* rows;     // List of List of Const, in a context of their own while the table is read
  List* known;    // for each key a value that is not NULL, or null
  List* texts;    // those among the columns that functions of keys read
  Size longest;   // bytes of these in the rows
};

bool is_of_any_length(const Node* value) {
  return get_typlen(exprType(value)) == -1 && exprType(value) != NUMERICOID;
}

// Adds the columns of any length that functions read, and not the length alone: beside protected
// rows these have NULL for a value that is too long (pg/protect/size_limit.hpp).
void add_texts(Reading* reading, Node* expression) {
  visit_nodes(expression, [&](Node* node) {
    List* values = arguments_of(node);
    if (IsA(node, CoerceViaIO)) values = list_make1(as<CoerceViaIO>(node)->arg);
    const Oid function = function_of(node);
    const bool reads_little =
        OidIsValid(function) && (time_of_function(function) == CallTime::kLength ||
                                 time_of_function(function) == CallTime::kEqualLength);
    if (reads_little) return;
    for (auto* value : each<Node>(values)) {
      while (IsA(value, RelabelType)) value = as<Node>(as<RelabelType>(value)->arg);
      if (IsA(value, Var) && is_of_any_length(value)) {
        reading->texts = list_append_unique(reading->texts, value);
      }
    }
  });
}

void note_texts(Reading* reading) {
  const ListCell* cell;
  foreach (cell, reading->values) {
    const auto* value = static_cast<const Const*>(lfirst(cell));
    const bool is_read =
        list_member(reading->texts, list_nth(reading->columns, foreach_current_index(cell)));
    if (!is_read || value->constisnull) continue;
    reading->longest = Max(reading->longest, toast_raw_datum_size(value->constvalue) - VARHDRSZ);
  }
}

void add_columns(Reading* reading, Node* expression) {
  for (auto* column : each<Var>(pull_vars_of_level(expression, 0))) {
    reading->columns = list_append_unique(reading->columns, column);
  }
}

void add_prepared(const Reading& reading, const Node* expression, List** prepared) {
  auto* made = static_cast<PreparedExpression*>(palloc(sizeof(PreparedExpression)));
  *made = prepare_expression(reading.level, expression, reading.columns);
  *prepared = lappend(*prepared, made);
}

bool pass(const List* filters, const List* values) {
  for (const auto* filter : each<const PreparedExpression>(filters)) {
    const NullableDatum result = compute(*filter, values);
    if (result.isnull || !DatumGetBool(result.value)) return false;
  }
  return true;
}

// Adds the keys of the row whose values these are. They are computed in a context of rows, what is
// known of keys stays in the current one.
void add_row(Reading* reading, MemoryContext of_rows) {
  const bool passes = pass(reading->filters, reading->values);
  if (!passes && !list_member_ptr(reading->known, nullptr)) return;
  const MemoryContext current = MemoryContextSwitchTo(of_rows);
  List* row = NIL;
  for (const auto* key : each<const PreparedExpression>(reading->keys)) {
    Const* value = computed_constant(*key, reading->values);
    ListCell* known = list_nth_cell(reading->known, list_length(row));
    if (lfirst(known) == nullptr && !value->constisnull) {
      MemoryContextSwitchTo(current);
      lfirst(known) = copyObjectImpl(value);
      MemoryContextSwitchTo(of_rows);
    }
    row = lappend(row, value);
  }
  if (passes) reading->rows = lappend(reading->rows, row);
  if (passes) note_texts(reading);
  MemoryContextSwitchTo(current);
}

// Keeps each row once. False if there are too many.
bool keep_different(Reading* reading, const List* keys) {
  reading->rows = different_rows(reading->rows, keys);
  return list_length(reading->rows) <= kMaxElements;
}

MemoryContext context_of_rows() {
  return AllocSetContextCreate(CurrentMemoryContext, "dpquantile public rows",
                               ALLOCSET_DEFAULT_SIZES);
}

// The same where they are in a context of their own, which they leave for another.
bool move_different(Reading* reading, const List* keys, MemoryContext* from, MemoryContext to) {
  const MemoryContext current = MemoryContextSwitchTo(*from);
  const bool are_few = keep_different(reading, keys);
  MemoryContextSwitchTo(to);
  reading->rows = are_few ? static_cast<List*>(copyObjectImpl(reading->rows)) : NIL;
  MemoryContextSwitchTo(current);
  MemoryContextDelete(*from);
  *from = to;
  return are_few;
}

// So many rows are read before those that are equal to others are left out.
constexpr int kMostBetween = 4 * kMaxElements;

void free_prepared(const List* prepared) {
  for (const auto* expression : each<const PreparedExpression>(prepared)) {
    FreeExprContext(expression->context, true);
  }
}

void take_values(Reading* reading, TupleTableSlot* slot) {
  const ListCell* cell;
  foreach (cell, reading->values) {
    auto* value = static_cast<Const*>(lfirst(cell));
    const auto* column =
        static_cast<const Var*>(list_nth(reading->columns, foreach_current_index(cell)));
    value->constvalue = slot_getattr(slot, column->varattno, &value->constisnull);
  }
}

// Reads the rows of the table. False if it must not be read, or they are too many or too large.
// There are never more in memory than some thousands, or some megabytes.
bool read_table(Reading* reading, Oid relation, const PublicChoice& choice, const List* keys) {
  constexpr Size kMostBytes = 4 * kMostListedBytes;
  PublicScan scan;
  List* numbers = sorted_numbers(reading->columns);
  if (!ActiveSnapshotSet() || !begin_scan(&scan, relation, numbers, choice, GetActiveSnapshot())) {
    return false;
  }
  MemoryContext of_rows = context_of_rows();
  bool are_few = true;
  while (are_few && next_row(&scan)) {
    take_values(reading, scan.slot);
    add_row(reading, of_rows);
    if (list_length(reading->rows) <= kMostBetween &&
        MemoryContextMemAllocated(of_rows, false) <= kMostBytes) {
      continue;
    }
    are_few = move_different(reading, keys, &of_rows, context_of_rows()) &&
              MemoryContextMemAllocated(of_rows, false) <= kMostBytes;
  }
  are_few = move_different(reading, keys, &of_rows, CurrentMemoryContext) && are_few &&
            !scan.is_too_large;
  Statement* statement = reading->level->statement;
  if (are_few) note_rows(statement, scan);
  if (are_few && reading->longest > statement->longest_text.bytes) {
    statement->longest_text = {relation, reading->longest};
  }
  end_scan(&scan);
  free_prepared(reading->filters);
  free_prepared(reading->keys);
  return are_few;
}

// Reads VALUES. False if a value is not known, or the rows are too many.
bool read_values(Reading* reading, const List* rows, const List* keys) {
  for (const auto* row : each<const List>(rows)) {
    CHECK_FOR_INTERRUPTS();
    List* values = NIL;
    for (const auto* column : each<const Var>(reading->columns)) {
      const auto* written = static_cast<const Node*>(list_nth(row, column->varattno - 1));
      if (!can_be_evaluated(written, NIL)) return false;
      const PreparedExpression value = prepare_expression(reading->level, written, NIL);
      values = lappend(values, computed_constant(value, NIL));
    }
    reading->values = values;
    add_row(reading, CurrentMemoryContext);
    if (list_length(reading->rows) > kMostBetween && !keep_different(reading, keys)) return false;
  }
  return keep_different(reading, keys);
}

bool read_rows(Reading* reading, const RangeTblEntry* table, const PublicChoice& choice,
               const List* keys) {
  return table->rtekind == RTE_VALUES ? read_values(reading, table->values_lists, keys)
                                      : read_table(reading, table->relid, choice, keys);
}

// What has been read of a table for a statement.
struct RowsOfTable {
  Oid relation;         // or VALUES:
  const List* written;  // their rows
  PublicChoice choice;
  List* filters;      // Node, over the entry of the table
  List* expressions;  // the same: keys
  bool are_known;     // false if they must not be read, or are too many
  List* rows;         // of Reading
  List* known;
};

// Different keys have the same parts, and a level is looked at several times: so each list is read
// once.
const RowsOfTable* rows_of_table(const Level* level, const RangeTblEntry* table,
                                 const PublicChoice& choice, List* filters, List* expressions) {
  Statement* statement = level->statement;
  for (const auto* known : each<const RowsOfTable>(statement->rows_of_tables)) {
    if (known->relation == table->relid && known->written == table->values_lists &&
        known->choice.column == choice.column && equal(known->expressions, expressions) &&
        equal(known->filters, filters) && equal(known->choice.values, choice.values)) {
      return known;
    }
  }
  Reading reading{};
  reading.level = level;
  for (auto* expression : each<Node>(list_concat_copy(filters, expressions))) {
    add_columns(&reading, expression);
  }
  for (const auto* filter : each<const Node>(filters)) {
    add_prepared(reading, filter, &reading.filters);
  }
  for (const auto* key : each<const Node>(expressions)) {
    add_prepared(reading, key, &reading.keys);
    add_texts(&reading, const_cast<Node*>(key));
    reading.known = lappend(reading.known, nullptr);
  }
  for (const auto* column : each<const Var>(reading.columns)) {
    reading.values = lappend(reading.values, null_like(as<Node>(column)));
  }
  const bool are_known = read_rows(&reading, table, choice, expressions);
  count_kept_values(statement, static_cast<double>(list_length(reading.rows)) *
                                   static_cast<double>(list_length(expressions)));
  auto* read = static_cast<RowsOfTable*>(palloc(sizeof(RowsOfTable)));
  *read = {table->relid, table->values_lists, choice,       filters,
           expressions,  are_known,           reading.rows, reading.known};
  statement->rows_of_tables = lappend(statement->rows_of_tables, read);
  return read;
}

bool is_of_step(const Condition& condition, int step) {
  return condition.first <= step && step < condition.joined;
}

// The keys of rows in which the entry of a step is absent, if conditions let them pass.
void add_absent_row(Reading* reading, const List* ways, const List* conditions, int step) {
  const auto& way = *static_cast<const Way*>(linitial(ways));
  Reading absent{};
  absent.level = step_of(way, step).level;
  for (const auto* condition : each<const Condition>(conditions)) {
    if (!is_of_step(*condition, step)) continue;
    auto* expression =
        static_cast<Node*>(list_nth(condition->expressions, step - condition->first));
    add_columns(&absent, expression);
  }
  for (const auto* other : each<const Way>(ways)) {
    add_columns(&absent, static_cast<Node*>(list_nth(other->expressions, step)));
  }
  for (const auto* condition : each<const Condition>(conditions)) {
    if (!is_of_step(*condition, step)) continue;
    const auto* expression =
        static_cast<const Node*>(list_nth(condition->expressions, step - condition->first));
    if (!can_be_evaluated(expression, absent.columns)) continue;
    add_prepared(absent, expression, &absent.filters);
  }
  for (const auto* other : each<const Way>(ways)) {
    const auto* expression = static_cast<const Node*>(list_nth(other->expressions, step));
    add_prepared(absent, expression, &absent.keys);
    absent.known = lappend(absent.known, nullptr);
  }
  for (const auto* column : each<const Var>(absent.columns)) {
    absent.values = lappend(absent.values, null_like(as<Node>(column)));
  }
  add_row(&absent, CurrentMemoryContext);
  free_prepared(absent.filters);
  free_prepared(absent.keys);
  reading->rows = list_concat(reading->rows, absent.rows);
  for (int i = 0; i < list_length(reading->known); ++i) {
    ListCell* known = list_nth_cell(reading->known, i);
    if (lfirst(known) == nullptr) lfirst(known) = list_nth(absent.known, i);
  }
}

Node* key_of_table(const Way& way) {
  return static_cast<Node*>(llast(way.expressions));
}

// Whether the keys of all ways can be computed where the entry of a step, or the table, is known.
bool can_be_computed(const Way& way) {
  for (auto* expression : each<Node>(way.expressions)) {
    if (!can_be_evaluated(expression, pull_vars_of_level(expression, 0))) return false;
  }
  return true;
}

// Whether a row of these rows has a row of the step of a way exactly if this has the compared
// value: the outer join of the step compares one column of each side and nothing else, and the
// queries below give all rows of the table.
bool finds_all_values(const Way& way, int number) {
  const Step& compared = step_of(way, number);
  for (int i = number + 1; i < list_length(way.steps); ++i) {
    const Query* query = step_of(way, i).level->query;
    const bool has_all = query->jointree->quals == nullptr && list_length(query->rtable) == 1 &&
                         query->limitCount == nullptr && query->limitOffset == nullptr &&
                         !query->hasTargetSRFs;
    if (!has_all) return false;
  }
  const Query* query = compared.level->query;
  return list_length(terms_of(condition_of_outer_join(query, compared.entry))) == 1;
}

// The way of a column as the one that the outer join of a step of a table's way compares it with,
// as far as both ways are one before that step.
std::optional<Way> way_to_compared(const Level* level, Node* key, const Way& table) {
  Way way{};
  Node* expression = over_entries(level, key);
  for (int number = 0; number < list_length(table.steps) && expression != nullptr; ++number) {
    const Step& step = step_of(table, number);
    const int entry = entry_of_columns(expression);
    if (entry == 0 || step.level != level) return std::nullopt;
    if (entry != step.entry) {
      if (!IsA(expression, Var)) return std::nullopt;
      const List* terms = terms_of(condition_of_outer_join(level->query, step.entry));
      Node* same = equal_column_of(level, terms, as<Var>(expression), step.entry);
      const auto rest = same == nullptr ? std::nullopt : own_way_of(level, same);
      if (!rest) return std::nullopt;
      way.compared_step = number;
      way.steps = list_concat(way.steps, rest->steps);
      way.expressions = list_concat(way.expressions, rest->expressions);
      return is_same_way(table, way) ? std::optional(way) : std::nullopt;
    }
    add_step(&way, level, entry, expression);
    const Level* below = nullptr;
    expression = over_query_below(level, expression, &below);
    if (expression != nullptr) expression = over_entries(below, expression);
    level = below;
  }
  return std::nullopt;
}

bool is_absent_elsewhere(const Way& way) {
  for (int i = 0; i < list_length(way.steps); ++i) {
    const Step& step = step_of(way, i);
    if (i != way.compared_step && may_be_absent(step.level, step.entry)) return true;
  }
  return false;
}

// A key of other rows as the column of the table of a way with which an outer join of the table
// compares it. None if it may be something in rows without a match that no list has.
std::optional<Way> way_of_compared(const Level* level, Node* key, const Way& table,
                                   OwnList own_list) {
  auto way = way_to_compared(level, key, table);
  List* values = NIL;
  if (!way || is_absent_elsewhere(*way) || !own_list(level, key, &values)) return std::nullopt;
  way->compared = key;
  const Step& step = step_of(*way, way->compared_step);
  if (!may_be_absent(step.level, step.entry)) return way;
  if (!finds_row_of_reference(step.level, step.entry)) {
    if (values == NIL) return std::nullopt;
    way->values_without_row = list_copy(values);
  }
  if (!has_null(way->values_without_row) && may_be_null(level, key)) {
    way->values_without_row = lappend(way->values_without_row, null_like(key));
  }
  return way;
}

// In the place of the last row, which is that of rows without one of the table: one for each value
// that the compared key may have then. One that the table has is in another row if the join
// compares nothing else.
void spread_absent_row(Reading* reading, const List* ways) {
  for (int number = 0; number < list_length(ways); ++number) {
    const auto* way = static_cast<const Way*>(list_nth(ways, number));
    if (way->compared == nullptr) continue;
    const auto* absent = static_cast<const List*>(llast(reading->rows));
    reading->rows = list_truncate(reading->rows, list_length(reading->rows) - 1);
    List* found = NIL;
    for (const auto* row : each<const List>(reading->rows)) {
      auto* value = static_cast<Const*>(list_nth(row, number));
      if (!value->constisnull) found = lappend(found, value);
    }
    const List* keys = list_make1(way->compared);
    const List* lists = list_make1(different_values(found, way->compared));
    const bool is_exact = finds_all_values(*way, way->compared_step);
    for (auto* value : each<Const>(way->values_without_row)) {
      const List* rows = list_make1(list_make1(value));
      if (is_exact && rows_in_lists(rows, keys, lists) != NIL) continue;
      List* row = list_copy(absent);
      lfirst(list_nth_cell(row, number)) = value;
      reading->rows = lappend(reading->rows, row);
    }
    return;
  }
}

// ---- Large tables --------------------------------------------------------------------------

// The few values of a column that conditions let pass, or of a column of other rows with which an
// equality of a join compares it; NIL if there are more, or they are not known.
List* few_values(const Step& table, const List* filters, Var* column, OwnList own_list) {
  for (const auto* filter : each<const Node>(filters)) {
    if (List* values = values_in_term(table.level, as<Node>(column), filter)) return values;
  }
  if (own_list == nullptr) return NIL;
  for (auto* term : each<OpExpr>(terms_of_joined(table))) {
    if (!IsA(term, OpExpr) || list_length(term->args) != 2) continue;
    if (!op_mergejoinable(term->opno, column->vartype)) continue;
    Node* left = over_entries(table.level, static_cast<Node*>(linitial(term->args)));
    Node* right = over_entries(table.level, static_cast<Node*>(lsecond(term->args)));
    Node* other = equal(left, column) ? right : equal(right, column) ? left : nullptr;
    if (other == nullptr || !IsA(other, Var) || exprType(other) != column->vartype) continue;
    List* values = NIL;
    if (own_list(table.level, other, &values) && values != NIL) return values;
  }
  return NIL;
}

// Which rows of a table too large to be read as a whole are enough: those that a list of values
// finds by a unique key. Rows that have other values are joined with none of the table, or are in
// no group, as that of a list that their owner has stated.
std::optional<PublicChoice> choice_of(const Way& way, List* filters, OwnList own_list) {
  const Step& table = table_of(way);
  if (read_entry(way)->rtekind != RTE_RELATION) return std::nullopt;
  List* columns = pull_vars_of_level(as<Node>(filters), 0);
  for (auto* term : each<Node>(terms_of_joined(table))) {
    if (Node* here = over_entries(table.level, term)) {
      columns = list_concat(columns, pull_vars_of_level(here, 0));
    }
  }
  for (auto* column : each<Var>(columns)) {
    if (static_cast<int>(column->varno) != table.entry || !is_of_usual_type(as<Node>(column))) {
      continue;
    }
    List* values = NIL;
    for (auto* value : each<Const>(few_values(table, filters, column, own_list))) {
      if (!value->constisnull) values = lappend(values, value);
    }
    const bool are_few = values != NIL && list_length(values) <= kMaxElements;
    const Oid relation = read_entry(way)->relid;
    if (are_few && OidIsValid(index_of_column(relation, column->varattno, GetActiveSnapshot()))) {
      return PublicChoice{column->varattno, values};
    }
  }
  return std::nullopt;
}

// ---- Joined tables -------------------------------------------------------------------------

bool find_rows(const List* ways, const List* keys, OwnList own_list, const List* filters_of_joins,
               TableKeys* found);

// A term of an inner join that says that a column of a table is equal to one of another table.
struct EqualColumns {
  Var* own;
  Var* other;  // null if the term is another one
};

EqualColumns equal_columns(const Level* level, int entry, const Node* term) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return {};
  auto* left = as<Var>(over_entries(level, static_cast<Node*>(linitial(as<OpExpr>(term)->args))));
  auto* right = as<Var>(over_entries(level, static_cast<Node*>(lsecond(as<OpExpr>(term)->args))));
  if (left == nullptr || right == nullptr || !IsA(left, Var) || !IsA(right, Var)) return {};
  if (static_cast<int>(left->varno) != entry) std::swap(left, right);
  const bool are_of_tables = static_cast<int>(left->varno) == entry &&
                             left->varno != right->varno &&
                             is_readable_table(level, static_cast<int>(right->varno));
  const bool are_equal = op_mergejoinable(as<OpExpr>(term)->opno, left->vartype) &&
                         left->vartype == right->vartype && left->varcollid == right->varcollid;
  return are_of_tables && are_equal ? EqualColumns{left, right} : EqualColumns{};
}

// column = ANY (values)
Node* is_one_of_values(Var* column, const List* values) {
  const Oid type = column->vartype;
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  auto* elements = static_cast<Datum*>(palloc0((list_length(values) + 1) * sizeof(Datum)));
  int count = 0;
  for (const auto* value : each<const Const>(values)) elements[count++] = value->constvalue;
  ArrayType* array = construct_array(elements, count, type, length, by_value, alignment);
  auto* search = makeNode(ScalarArrayOpExpr);
  search->opno = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
  search->opfuncid = get_opcode(search->opno);
  search->useOr = true;
  search->inputcollid = column->varcollid;
  search->args = list_make2(column, makeConst(get_array_type(type), -1, column->varcollid, -1,
                                              PointerGetDatum(array), false, false));
  search->location = -1;
  return as<Node>(search);
}

// What inner joins with other tables say of the rows of a table, where conditions choose rows of
// those: a column of it has one of the values that are left there. `seen` are the entries of the
// level that have been looked at; each is once, so that this takes no longer than they are many.
List* filters_of_joins(const Step& table, Bitmapset** seen) {
  List* filters = NIL;
  const Level* level = table.level;
  if (!is_readable_table(level, table.entry) || may_be_absent(level, table.entry)) return NIL;
  *seen = bms_add_member(*seen, table.entry);
  for (const auto* term : each<const Node>(terms_of_all_rows(level))) {
    const auto [own, other] = equal_columns(level, table.entry, term);
    if (other == nullptr || bms_is_member(static_cast<int>(other->varno), *seen)) continue;
    if (!is_of_usual_type(as<Node>(own))) continue;
    Way way{};
    add_step(&way, level, static_cast<int>(other->varno), as<Node>(other));
    const List* filters_of_other = filters_of_joins(table_of(way), seen);
    const bool is_chosen = filters_of_other != NIL || conditions_of(way).all != NIL;
    TableKeys rows{};
    if (!is_chosen ||
        !find_rows(list_make1(&way), list_make1(other), nullptr, filters_of_other, &rows)) {
      continue;
    }
    List* values = NIL;
    for (const auto* row : each<const List>(rows.rows)) {
      auto* value = static_cast<Const*>(linitial(row));
      if (!value->constisnull) values = lappend(values, value);
    }
    filters = lappend(filters, is_one_of_values(own, values));
  }
  return filters;
}

// ---- Rows of stages ------------------------------------------------------------------------

// Whether rows that a stage gives, or made-up ones, may stand in the place of the last entry of a
// way (pg/staged).
bool is_of_stage(const Way& way) {
  return is_in_stages() && read_entry(way)->rtekind == RTE_VALUES;
}

bool may_be_absent(const Way& way) {
  for (const auto* step : each<const Step>(way.steps)) {
    if (may_be_absent(step->level, step->entry)) return true;
  }
  return false;
}

Const* made_up_key(const Node* key, int number) {
  return made_up_value(exprType(key), exprTypmod(key), exprCollation(key), number);
}

// Rows of a trial: as many as those that come may have, whatever conditions these fulfil. One is of
// NULLs, as one of the made-up rows is, or where an outer join leaves these out.
List* made_up_rows(const List* ways, const List* keys) {
  const auto& way = *static_cast<const Way*>(linitial(ways));
  int most = list_length(read_entry(way)->values_lists);
  const bool has_nulls = most > 1 || may_be_absent(way);
  if (most > 1 && !may_be_absent(way)) --most;
  for (const auto* other : each<const Way>(ways)) most += list_length(other->values_without_row);
  List* rows = NIL;
  for (int number = 0; number < most; ++number) {
    List* row = NIL;
    for (const auto* key : each<const Node>(keys)) row = lappend(row, made_up_key(key, number));
    rows = lappend(rows, row);
  }
  List* nulls = NIL;
  for (const auto* key : each<const Node>(keys)) nulls = lappend(nulls, null_like(key));
  return different_rows(has_nulls ? lappend(rows, nulls) : rows, keys);
}

// A stage without rows has one of NULLs, so that VALUES have a row.
bool has_no_rows(const Way& way) {
  const List* rows = read_entry(way)->values_lists;
  if (list_length(rows) > 1) return false;
  for (const auto* value : each<const Const>(static_cast<const List*>(linitial(rows)))) {
    if (!IsA(value, Const) || !value->constisnull) return false;
  }
  return true;
}

// Of some types there are none. A trial cannot list such keys, so they have no list later.
bool have_made_up_values(const List* keys) {
  for (const auto* key : each<const Node>(keys)) {
    if (made_up_key(key, 0)->constisnull) return false;
  }
  return true;
}

// Where no row has a value.
void add_substitutes(TableKeys* found, const List* keys) {
  for (int i = 0; i < list_length(keys); ++i) {
    ListCell* known = list_nth_cell(found->substitutes, i);
    if (lfirst(known) == nullptr) {
      lfirst(known) = made_up_key(static_cast<const Node*>(list_nth(keys, i)), 0);
    }
  }
}

// Finds the rows of keys that have the same way. Returns false if they are not found.
bool find_rows(const List* ways, const List* keys, OwnList own_list, const List* filters_of_joins,
               TableKeys* found) {
  const auto& way = *static_cast<const Way*>(linitial(ways));
  found->source = name_of_source(way);
  found->is_of_stage = is_of_stage(way);
  if (found->is_of_stage && !have_made_up_values(keys)) return false;
  if (found->is_of_stage && rows_in_stages() == StageRows::kMadeUp) {
    found->rows = made_up_rows(ways, keys);
    for (int i = 0; i < list_length(keys); ++i)
      found->substitutes = lappend(found->substitutes, nullptr);
    add_substitutes(found, keys);
    if (list_length(found->rows) <= kMaxElements) return true;
    note_long_row_list();
    return false;
  }
  const Conditions conditions = conditions_of(way);
  List* filters = NIL;
  for (const auto* condition :
       each<const Condition>(list_concat_copy(conditions.all, conditions.joined))) {
    auto* expression = static_cast<Node*>(llast(condition->expressions));
    if (can_be_evaluated(expression, pull_vars_of_level(expression, 0))) {
      filters = lappend(filters, expression);
    }
  }
  filters = list_concat(filters, filters_of_joins);
  List* expressions = NIL;
  for (const auto* other : each<const Way>(ways)) {
    expressions = lappend(expressions, key_of_table(*other));
  }
  const Level* level = table_of(way).level;
  const RowsOfTable* table = rows_of_table(level, read_entry(way), {}, filters, expressions);
  if (!table->are_known) {
    const auto choice = choice_of(way, filters, own_list);
    if (choice) table = rows_of_table(level, read_entry(way), *choice, filters, expressions);
  }
  if (!table->are_known) return false;
  Reading reading{};
  const bool is_empty = found->is_of_stage && has_no_rows(way);
  reading.rows = is_empty ? NIL : list_copy(table->rows);
  reading.known = list_copy(table->known);
  for (int step = 0; step < list_length(way.steps); ++step) {
    const Step& absent = step_of(way, step);
    if (!may_be_absent(absent.level, absent.entry)) continue;
    const int rows = list_length(reading.rows);
    add_absent_row(&reading, ways, conditions.all, step);
    if (list_length(reading.rows) > rows) spread_absent_row(&reading, ways);
  }
  if (!keep_different(&reading, keys)) return false;
  found->rows = reading.rows;
  found->substitutes = reading.known;
  if (found->is_of_stage) add_substitutes(found, keys);
  return true;
}

// Finds ways of keys without one: of each table one that its outer join compares.
void add_ways_of_compared(const Level* level, const List* keys, List* ways, OwnList own_list) {
  for (int i = 0; i < list_length(ways); ++i) {
    const auto* table = static_cast<const Way*>(list_nth(ways, i));
    if (table == nullptr || !table->has_own_columns) continue;
    bool has_compared = false;
    for (const auto* way : each<const Way>(ways)) {
      has_compared |= way != nullptr && way->compared != nullptr && is_same_way(*table, *way);
    }
    for (int j = 0; j < list_length(ways) && !has_compared; ++j) {
      auto* key = static_cast<Node*>(list_nth(keys, j));
      if (list_nth(ways, j) != nullptr || !is_of_usual_type(key)) continue;
      const auto way = way_of_compared(level, key, *table, own_list);
      if (!way) continue;
      auto* found = static_cast<Way*>(palloc(sizeof(Way)));
      *found = *way;
      lfirst(list_nth_cell(ways, j)) = found;
      has_compared = true;
    }
  }
}

}  // namespace

bool is_of_table(const Level* level, Node* key) {
  const auto way = is_of_usual_type(key) ? way_of(level, key) : std::nullopt;
  return way && way->has_own_columns && can_be_computed(*way);
}

bool is_joined_with_table(const Level* level, int entry) {
  for (const auto* term : each<const Node>(terms_of_all_rows(level))) {
    if (equal_columns(level, entry, term).other != nullptr) return true;
  }
  return false;
}

List* keys_of_tables(const Level* level, const List* keys, OwnList own_list) {
  List* ways = NIL;  // of each key, or null
  for (auto* key : each<Node>(keys)) {
    auto* found = static_cast<Way*>(nullptr);
    const auto way = is_of_usual_type(key) ? way_of(level, key) : std::nullopt;
    if (way && can_be_computed(*way) && (own_list != nullptr || !is_of_stage(*way))) {
      found = static_cast<Way*>(palloc(sizeof(Way)));
      *found = *way;
    }
    ways = lappend(ways, found);
  }
  if (own_list != nullptr) add_ways_of_compared(level, keys, ways, own_list);
  List* tables = NIL;
  for (int i = 0; i < list_length(keys); ++i) {
    const auto* first = static_cast<const Way*>(list_nth(ways, i));
    if (first == nullptr) continue;
    auto* table = static_cast<TableKeys*>(palloc0(sizeof(TableKeys)));
    List* ways_of_table = NIL;
    List* keys_of_table = NIL;
    for (int j = i; j < list_length(keys); ++j) {
      auto* other = static_cast<Way*>(list_nth(ways, j));
      if (other == nullptr || !is_same_way(*first, *other)) continue;
      table->numbers = lappend_int(table->numbers, j);
      ways_of_table = lappend(ways_of_table, other);
      keys_of_table = lappend(keys_of_table, list_nth(keys, j));
      lfirst(list_nth_cell(ways, j)) = nullptr;
    }
    Bitmapset* seen = nullptr;
    const List* filters = filters_of_joins(table_of(*first), &seen);
    if (find_rows(ways_of_table, keys_of_table, own_list, filters, table)) {
      tables = lappend(tables, table);
    }
  }
  return tables;
}

List* values_of_table(const Level* level, Node* key) {
  const List* tables = keys_of_tables(level, list_make1(key), nullptr);
  if (tables == NIL) return NIL;
  List* values = NIL;
  for (const auto* row : each<const List>(static_cast<const TableKeys*>(linitial(tables))->rows)) {
    values = lappend(values, linitial(row));
  }
  return values;
}

namespace {

// SELECT column FROM table
Query* query_of_column(Relation table, AttrNumber column) {
  ParseState* parser = make_parsestate(nullptr);
  (void)addRangeTableEntryForRelation(parser, table, AccessShareLock, nullptr, true, true);
  auto* entry = makeNode(RangeTblRef);
  entry->rtindex = list_length(parser->p_rtable);
  auto* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->rtable = parser->p_rtable;
  DPQ_TAKE_PERMISSIONS(query, parser);
  query->jointree = makeFromExpr(list_make1(entry), nullptr);
  const auto* attribute = TupleDescAttr(RelationGetDescr(table), column - 1);
  Var* value = makeVar(entry->rtindex, column, attribute->atttypid, attribute->atttypmod,
                       attribute->attcollation, 0);
  query->targetList =
      list_make1(makeTargetEntry(as<Expr>(value), 1, pstrdup(NameStr(attribute->attname)), false));
  return query;
}

// The values of a column of a table that FROM need not have; what is read counts as read for the
// statement.
List* values_of_column(Statement* statement, Oid relation, AttrNumber column, const Node* key) {
  Relation table = try_table_open(relation, AccessShareLock);
  if (table == nullptr) return NIL;
  Query* query = query_of_column(table, column);
  table_close(table, NoLock);
  auto* value = as<Node>(static_cast<TargetEntry*>(linitial(query->targetList))->expr);
  if (exprType(value) != exprType(key) || exprCollation(value) != exprCollation(key)) return NIL;
  Statement* alone = read_statement(query, NIL);
  alone->public_reads = statement->public_reads;
  alone->rows_of_tables = statement->rows_of_tables;
  List* values = values_of_table(alone->top, value);
  statement->public_reads = alone->public_reads;
  statement->rows_of_tables = alone->rows_of_tables;
  return values;
}

}  // namespace

// Where one of several columns of a foreign key is NULL the others may be anything.
List* values_of_referenced_table(const Level* level, Node* column) {
  const auto origin = origin_of(level, column);
  if (!origin || is_person(level, column) || !looks_like_its_equals(column) ||
      has_children_besides_partitions(origin->relation)) {
    return NIL;
  }
  for (const auto* reference : each<const Reference>(references_of(origin->relation))) {
    const bool is_of_column = reference->columns == 1 && reference->own[0] == origin->column;
    if (!is_of_column || !reference->is_checked) continue;
    List* values =
        values_of_column(level->statement, reference->referenced, reference->key[0], column);
    if (values == NIL) continue;
    const bool lacks_null = !has_null(values) && may_be_null(level, column);
    return lacks_null ? lappend(list_copy(values), null_like(column)) : values;
  }
  return NIL;
}

}  // namespace dpquantile
