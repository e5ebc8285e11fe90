#include "pg/plain/empty_answers.hpp"

#include <algorithm>
#include <cmath>

#include "pg/borrowed/early_values.hpp"
#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/plain/evaluated_key.hpp"
#include "pg/plain/key_conditions.hpp"
#include "pg/plain/value_range.hpp"
#include "pg/query/shown_column.hpp"
#include "pg/server/trees.hpp"
#include "pg/server/value_type.hpp"
#include "pg/vocabulary/node_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// ---- Rows ----------------------------------------------------------------------------------

// A query level from which rows of the answer come, once for each place of FROM that reads it: a
// condition on one row of a WITH query says nothing of another.
struct Source {
  const Level* level;
  int first;       // how many entries the sources before have
  Source** below;  // of its entries; null for those that are no such level
};

// The sources of all rows of a level, and their entries, of which each row of the answer has one
// row. Null for entries whose rows an outer join may leave out.
struct Rows {
  List* sources;  // Source
  List* entries;  // const Entry
};

constexpr int kMostSources = 100;

bool is_in_each_row(const Level* level, int number) {
  return entry_of(level, number).is_in_from &&
         bms_is_empty(nulling_joins(as<Node>(level->query->jointree), number));
}

// An entry by its number, from 1.
const Entry* entry_of(const Rows& rows, int number) {
  return static_cast<const Entry*>(list_nth(rows.entries, number - 1));
}

Source* add_source(const Level* level, Rows* rows) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  const int count = list_length(level->query->rtable);
  auto* source = static_cast<Source*>(palloc(sizeof(Source)));
  const auto size = static_cast<Size>(count) * sizeof(Source*);
  *source = {level, list_length(rows->entries), static_cast<Source**>(palloc0(size))};
  rows->sources = lappend(rows->sources, source);
  for (int number = 1; number <= count; ++number) {
    const Entry* entry = is_in_each_row(level, number) ? &entry_of(level, number) : nullptr;
    rows->entries = lappend(rows->entries, const_cast<Entry*>(entry));
  }
  for (int number = 1; number <= count; ++number) {
    const Entry* entry = entry_of(*rows, source->first + number);
    const bool has_rows = entry != nullptr && entry->borrowed == nullptr &&
                          entry->below != nullptr && !hides_rows(entry->below);
    if (!has_rows || list_length(rows->sources) >= kMostSources) continue;
    source->below[number - 1] = add_source(entry->below, rows);
  }
  return source;
}

Rows rows_of(const PlainLevel* level) {
  Rows rows{};
  (void)add_source(level->select, &rows);
  return rows;
}

const Source* top_of(const Rows& rows) {
  return static_cast<const Source*>(linitial(rows.sources));
}

// An expression of a source over columns of the entries of all sources. A column of a query below
// is what that computes, unless this gets long.
Node* over_entries(const Source* source, Node* expression, int* nodes) {
  constexpr int kManyNodes = 1000;
  check_stack_depth();
  return mapped(expression, [=](Node* node) -> Node* {
    ++*nodes;
    if (!IsA(node, Var) || as<Var>(node)->varlevelsup > 0) return nullptr;
    const auto* column = as<Var>(node);
    const auto definition = definition_of(source->level, column);
    const bool is_merged = definition && definition->level == source->level;
    const Source* below = is_merged ? source : source->below[column->varno - 1];
    if (definition && below != nullptr && *nodes < kManyNodes) {
      return over_entries(below, definition->expression, nodes);
    }
    return as<Node>(makeVar(source->first + static_cast<int>(column->varno), column->varattno,
                            column->vartype, column->vartypmod, column->varcollid, 0));
  });
}

// The number of the entry of which each row has the value of a column; 0 if there is none.
int entry_of_column(const Rows& rows, const Source* source, const Node* expression) {
  if (!IsA(expression, Var) || as<Var>(expression)->varlevelsup > 0) return 0;
  int nodes = 0;
  const Node* column = over_entries(source, const_cast<Node*>(expression), &nodes);
  if (!IsA(column, Var) || as<Var>(column)->varlevelsup > 0) return 0;
  const int number = static_cast<int>(as<Var>(column)->varno);
  return entry_of(rows, number) == nullptr ? 0 : number;
}

// Calls `visit` with each term that all rows fulfil, and its source.
template <class Visit>
void visit_terms(const Rows& rows, const Visit& visit) {
  for (const auto* source : each<const Source>(rows.sources)) {
    for (auto* term : each<Node>(terms_of_all_rows(source->level))) visit(source, term);
  }
}

// ---- Conditions that no row fulfils --------------------------------------------------------

bool has_null_argument(const List* arguments) {
  for (const auto* argument : each<const Node>(arguments)) {
    if (IsA(argument, Const) && as<Const>(argument)->constisnull) return true;
  }
  return false;
}

// Whether a term is false or NULL, or compares with NULL.
bool is_never_true(Node* term) {
  if (IsA(term, Const)) {
    return as<Const>(term)->constisnull || !DatumGetBool(as<Const>(term)->constvalue);
  }
  if (IsA(term, ScalarArrayOpExpr)) return has_null_argument(as<ScalarArrayOpExpr>(term)->args);
  if (!IsA(term, OpExpr) || !has_null_argument(as<OpExpr>(term)->args)) return false;
  set_opfuncid(as<OpExpr>(term));
  return func_strict(as<OpExpr>(term)->opfuncid);
}

Node* with_values_of_parameters(const Level* level, Node* term) {
  return mapped(term, [=](Node* node) {
    return IsA(node, Param) ? folded(node, level->statement->parameters) : nullptr;
  });
}

// The parts of a term that have no column, computed. Not those of CASE, whose tests have its
// argument.
Node* computed_parts(const Level* level, Node* term) {
  return mapped(with_values_of_parameters(level, term), [=](Node* node) -> Node* {
    if (IsA(node, CaseExpr)) return node;
    if (IsA(node, List) || IsA(node, Const) || contain_var_clause(node)) return nullptr;
    if (contain_mutable_functions(node) || !can_be_evaluated(node, NIL)) return nullptr;
    return as<Node>(evaluated(level, node, nullptr, nullptr));
  });
}

// Terms that are compared with each other.
struct Terms {
  List* terms;
  int nodes;
};

// PostgreSQL compares each node of a term with each of the others, and elements of short arrays; in
// each order in which it comes to both, of which each AND, OR and NOT around one makes up to twice
// as many. The first two of these are in everyday conditions. `around`: how many there are.
constexpr int kMostCompared = 1000;

int count_compared(Node* node, int around) {
  check_stack_depth();
  constexpr int kElements = 100;
  constexpr int kEveryday = 2;
  constexpr int kMostDoublings = 10;
  const int orders = 1 << std::clamp(around - kEveryday, 0, kMostDoublings);
  int nodes = orders * (IsA(node, ScalarArrayOpExpr) ? kElements : 1);
  const int below = IsA(node, BoolExpr) ? around + 1 : around;
  (void)any_child(node, [&](Node* child) {
    nodes += count_compared(child, below);
    return nodes > kMostCompared;
  });
  return nodes;
}

// Whether a term over columns of all entries has one value for their rows. A subquery names columns
// as if its own level were the only one.
bool has_one_value(const Node* term) {
  return !contain_volatile_functions(const_cast<Node*>(term)) &&
         !any_node(term, [](const Node* node) {
           return IsA(node, SubLink) || (IsA(node, Var) && as<Var>(node)->varlevelsup > 0);
         });
}

// Adds a term of a source. Returns false if it is true of no row of which the others are.
bool add_term(const Source* source, Node* term, Terms* terms) {
  CHECK_FOR_INTERRUPTS();
  int nodes = 0;
  Node* over_all = over_entries(source, term, &nodes);
  if (!has_one_value(over_all)) return true;
  Node* added = computed_parts(source->level, over_all);
  if (is_never_true(added)) return false;
  terms->nodes += count_compared(added, 0);
  if (terms->nodes > kMostCompared) return true;
  List* alone = list_make1(added);
  if (predicate_refuted_by(alone, alone, true) || predicate_refuted_by(alone, terms->terms, true)) {
    return false;
  }
  terms->terms = lappend(terms->terms, added);
  return true;
}

// Whether HAVING is true of no group whatever the answers are, as of 1 = 0.
bool shows_no_group(const Level* level) {
  for (auto* term : each<Node>(terms_of(level->query->havingQual))) {
    if (!contain_var_clause(term) && is_never_true(computed_parts(level, term))) return true;
  }
  return false;
}

// Whether a query has no row if FROM has none.
bool has_groups_alone(const Query* query) {
  return query->groupingSets == NIL && (query->groupClause != NIL || query->distinctClause != NIL);
}

}  // namespace

void refuse_conditions_of_no_row(const PlainLevel* level) {
  if (is_after_charge()) return;
  Query* query = level->select->query;
  if (shows_no_group(level->select)) {
    show_no_group(query);
    return;
  }
  const Rows rows = rows_of(level);
  Terms all{};
  bool is_without_rows = false;
  visit_terms(rows, [&](const Source* source, Node* term) {
    if (add_term(source, term, &all)) return;
    is_without_rows = is_without_rows || (!contain_var_clause(term) && has_groups_alone(query));
    if (is_without_rows) return;
    refuse(level->refused, exprLocation(term),
           "no row fulfils the conditions of the query, so its answer would be empty",
           "Two conditions contradict each other, or one is never true: to find what has no value, "
           "write IS NULL in the place of = NULL.");
  });
  if (is_without_rows) {
    show_no_group(query);
    return;
  }
  const auto check_filter = [&](const Node* node) {
    if (!IsA(node, Aggref) || as<Aggref>(node)->agglevelsup > 0) return;
    Terms of_call = {list_copy(all.terms), all.nodes};
    for (auto* term : each<Node>(terms_of(as<Node>(as<Aggref>(node)->aggfilter)))) {
      if (add_term(top_of(rows), term, &of_call)) continue;
      refuse(level->refused, exprLocation(term),
             "no row fulfils FILTER and the conditions of the query, so the aggregate would have "
             "no row",
             "Two conditions contradict each other, or one is never true.");
    }
  };
  visit_nodes(query->targetList, check_filter);
  visit_nodes(query->havingQual, check_filter);
}

void show_no_group(Query* query) {
  query->limitOption = LIMIT_OPTION_COUNT;
  query->limitCount = as<Node>(
      makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL));
}

namespace {

// ---- Groups of one person ------------------------------------------------------------------

// The column that a term says to be equal to something without columns; null if it does not.
const Node* column_that_is_fixed(const Node* term) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return nullptr;
  const auto* equality = as<OpExpr>(term);
  auto* left = static_cast<Node*>(linitial(equality->args));
  auto* right = static_cast<Node*>(lsecond(equality->args));
  if (!op_mergejoinable(equality->opno, exprType(left))) return nullptr;
  if (!contain_var_clause(right)) return without_relabel(left);
  return contain_var_clause(left) ? nullptr : without_relabel(right);
}

// Columns of an entry that have one value in a group. Those of a UNION ALL are columns of the table
// that all its queries read.
struct FixedColumns {
  Oid relation;
  Bitmapset* columns;
};

struct Groups {
  const PlainLevel* level;
  Rows rows;
  FixedColumns* fixed;  // of each entry
};

void add_column(const Groups& groups, const Source* source, const Node* column) {
  const auto origin = origin_of(source->level, column);
  const int number = entry_of_column(groups.rows, source, column);
  if (!origin || number == 0) return;
  const Entry* entry = entry_of(groups.rows, number);
  const bool is_protected = entry->borrowed != nullptr || entry->below != nullptr;
  if (!is_protected || !list_member_oid(groups.level->relations, origin->relation)) return;
  FixedColumns* fixed = &groups.fixed[number - 1];
  if (OidIsValid(fixed->relation) && fixed->relation != origin->relation) return;
  fixed->relation = origin->relation;
  fixed->columns = bms_add_member(fixed->columns, origin->column);
}

Groups groups_by_conditions(const PlainLevel* level) {
  Groups groups{level, rows_of(level), nullptr};
  const auto count = static_cast<Size>(list_length(groups.rows.entries));
  groups.fixed = static_cast<FixedColumns*>(palloc0(count * sizeof(FixedColumns)));
  visit_terms(groups.rows, [&](const Source* source, const Node* term) {
    const Node* column = column_that_is_fixed(term);
    if (column != nullptr) add_column(groups, source, column);
  });
  return groups;
}

// Whether a call gives different values for different ones: a cast to a wider type of numbers, a
// hash, or digits.
bool tells_apart(Oid function) {
  switch (function) {
    case F_INT4_INT2:
    case F_INT8_INT2:
    case F_INT8_INT4:
    case F_NUMERIC_INT2:
    case F_NUMERIC_INT4:
    case F_NUMERIC_INT8:
    case F_FLOAT8_INT2:
    case F_FLOAT8_INT4:
    case F_MD5_TEXT:
    case F_TO_HEX_INT4:
    case F_TO_HEX_INT8:
      return true;
    default:
      return false;
  }
}

bool has_one_text(Oid type) {
  return is_whole_type(type) || type == UUIDOID;
}

bool is_text_of_itself(const CoerceViaIO* cast) {
  return has_one_text(exprType(as<Node>(cast->arg))) &&
         (cast->resulttype == TEXTOID || cast->resulttype == VARCHAROID);
}

// The only one of some expressions that is not constant; null if there are several, or none, or if
// one is NULL.
const Node* only_variable(const List* arguments) {
  const Node* found = nullptr;
  if (has_null_argument(arguments)) return nullptr;
  for (const auto* argument : each<const Node>(arguments)) {
    if (IsA(argument, Const)) continue;
    if (found != nullptr) return nullptr;
    found = argument;
  }
  return found;
}

// Whether an operation with a constant has one result: id * 0, or id + 'NaN'.
bool gives_one_number(const char* name, const List* operands) {
  for (const auto* constant : each<const Const>(operands)) {
    if (!IsA(constant, Const) || constant->constisnull) continue;
    const auto type = find_value_type(constant->consttype);
    const double number = type ? number_of_value(*type, constant->constvalue) : 0;
    if (!std::isfinite(number) || (number == 0 && is_one_of(name, "*"))) return true;
  }
  return false;
}

// The part of -id, id + 0.5, id * 2, id # 5, ~id or 'person ' || id that is not constant; null for
// other operations.
const Node* part_of_operation(const OpExpr* operation) {
  const char* name = get_opname(operation->opno);
  const Oid type = operation->opresulttype;
  const bool is_exact = (is_whole_type(type) && is_one_of(name, "+ - * # ~")) ||
                        (type == NUMERICOID && is_one_of(name, "+ - *"));
  const bool appends = type == TEXTOID && is_one_of(name, "||");
  if (operation->opno >= FirstUnpinnedObjectId || (!is_exact && !appends)) return nullptr;
  if (is_exact && gives_one_number(name, operation->args)) return nullptr;
  return only_variable(operation->args);
}

// The same of a call: of md5(id::text), id::bigint, or concat('person ', id).
const Node* part_of_call(const FuncExpr* call) {
  if (tells_apart(call->funcid)) return static_cast<const Node*>(linitial(call->args));
  if (call->funcid != F_CONCAT || call->funcvariadic) return nullptr;
  const Node* part = only_variable(call->args);
  const bool is_one_text =
      part != nullptr && (exprType(part) == TEXTOID || has_one_text(exprType(part)));
  return is_one_text ? part : nullptr;
}

// What a key shows in another form, so that different values of the one are different ones of the
// other: of person::text the person.
const Node* without_conversions(const Node* key) {
  for (;;) {
    const Node* inner = without_relabel(const_cast<Node*>(key));
    const Node* part = nullptr;
    if (IsA(inner, CoerceViaIO) && is_text_of_itself(as<CoerceViaIO>(inner))) {
      part = as<Node>(as<CoerceViaIO>(inner)->arg);
    } else if (IsA(inner, FuncExpr)) {
      part = part_of_call(as<FuncExpr>(inner));
    } else if (IsA(inner, OpExpr)) {
      part = part_of_operation(as<OpExpr>(inner));
    } else if (IsA(inner, CoalesceExpr)) {  // nobody has a constant that comes later
      const List* values = as<CoalesceExpr>(inner)->args;
      if (!IsA(linitial(values), Const)) part = only_variable(values);
    }
    if (part != nullptr) inner = part;
    if (inner == key) return key;
    key = inner;
  }
}

// The first key that names persons, or null.
const Node* add_keys(const Groups& groups) {
  const Source* source = top_of(groups.rows);
  const Query* query = source->level->query;
  const Node* person = nullptr;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) == nullptr) {
      continue;
    }
    const Node* key = without_conversions(as<Node>(column->expr));
    add_column(groups, source, key);
    // A column of a query around has one value in all groups.
    const bool has_persons =
        entry_of_column(groups.rows, source, key) != 0 && is_person(source->level, key);
    if (has_persons && person == nullptr) person = key;
  }
  return person;
}

bool names_person(Oid relation, const Bitmapset* columns) {
  const ProtectedRelation* protection = find_protected_relation(relation);
  if (protection == nullptr) return false;
  if (OidIsValid(protection->through)) return refer_to_person(relation, columns);
  return protection->user_column > 0 && bms_is_member(protection->user_column, columns);
}

// Whether the columns of a relation have one value in a group, and rows with it are of one person.
using OfOnePerson = bool (*)(Oid relation, const Bitmapset* columns);

bool any_entry(const Groups& groups, OfOnePerson are_of_one) {
  for (int i = 0; i < list_length(groups.rows.entries); ++i) {
    const FixedColumns& fixed = groups.fixed[i];
    if (OidIsValid(fixed.relation) && are_of_one(fixed.relation, fixed.columns)) return true;
  }
  return false;
}

bool are_of_one_row(const Groups& groups) {
  return any_entry(groups, are_unique);
}

// Whether all rows of a group are one, or of one person.
bool are_of_one_person(const Groups& groups) {
  return are_of_one_row(groups) || any_entry(groups, names_person);
}

// The name of a column of persons: that of the table, or of the query if it is of several.
const char* name_of_person(const PlainLevel* level, const Node* key) {
  if (const auto origin = origin_of(level->select, key)) {
    return get_attname(origin->relation, origin->column, false);
  }
  const auto* shown = as<Var>(key);
  RangeTblEntry* table = rt_fetch(shown->varno, level->select->query->rtable);
  return get_rte_attribute_name(table, shown->varattno);
}

char* aggregate_of_groups_by(const char* key) {
  const char* name = quote_identifier(key);
  return psprintf(
      "an aggregate of them: SELECT avg(n) FROM (SELECT %s, count(*) AS n FROM ... "
      "GROUP BY %s) AS p.",
      name, name);
}

[[noreturn]] void refuse_groups_by_person(const PlainLevel* level, const Node* key) {
  const char* name = name_of_person(level, key);
  refuse(level->refused, exprLocation(key),
         psprintf("groups by \"%s\" have one person each, and such a group is never shown", name),
         psprintf("Ask %s", aggregate_of_groups_by(name)));
}

// The name of a key of which groups are of one person each, in a table that protects persons; null
// if several keys make them so.
const char* key_of_one_person(const PlainLevel* level) {
  const Query* query = level->select->query;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) == nullptr) {
      continue;
    }
    const auto origin = origin_of(level->select, as<Node>(column->expr));
    if (!origin || !list_member_oid(level->relations, origin->relation)) continue;
    const ProtectedRelation* protection = find_protected_relation(origin->relation);
    const bool protects_persons = protection->user_column > 0 || OidIsValid(protection->through);
    if (protects_persons && has_one_person_each(origin->relation, origin->column)) {
      return get_attname(origin->relation, origin->column, false);
    }
  }
  return nullptr;
}

}  // namespace

bool has_one_person_each(Oid relation, AttrNumber column) {
  const Bitmapset* columns = bms_make_singleton(column);
  return are_unique(relation, columns) || names_person(relation, columns);
}

void refuse_hidden_groups(const PlainLevel* level) {
  const Groups groups = groups_by_conditions(level);
  if (are_of_one_person(groups)) {
    refuse(level->refused, kNowhere,
           "WHERE chooses the rows of one person, and a group of one person is never shown",
           "Ask about more persons, or leave out GROUP BY.");
  }
  const Node* person = add_keys(groups);
  if (person != nullptr) refuse_groups_by_person(level, person);
  if (!are_of_one_person(groups)) return;
  const char* key = key_of_one_person(level);
  refuse(level->refused, kNowhere,
         are_of_one_row(groups)
             ? "the keys in GROUP BY are unique, so each group has one row, and such a group is "
               "never shown"
             : "the keys in GROUP BY refer to the row of one person, and a group of one person is "
               "never shown",
         psprintf("Group by columns of which many rows have the same values%s%s",
                  key == nullptr ? "." : ", or ask ",
                  key == nullptr ? "" : aggregate_of_groups_by(key)));
}

// ---- Rows of nobody ------------------------------------------------------------------------

void refuse_rows_of_nobody(const PlainLevel* level) {
  const Rows rows = rows_of(level);
  visit_terms(rows, [&](const Source* source, const Node* term) {
    if (!IsA(term, NullTest) || as<NullTest>(term)->nulltesttype != IS_NULL) return;
    const auto* tested = as<Node>(as<NullTest>(term)->arg);
    if (entry_of_column(rows, source, tested) == 0 || !is_person(source->level, tested)) return;
    refuse(level->refused, exprLocation(tested),
           "WHERE asks for rows without a person, and these are in no answer",
           "Only rows of persons are counted. Ask the owner of the table for the others.");
  });
}

}  // namespace dpquantile
