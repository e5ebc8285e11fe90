#include "pg/plain/empty_answers.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/grants/reference.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// Whether a column of this relation is NULL in no row for the sake of an outer join.
bool has_all_rows(const PlainLevel* level, Oid relation) {
  return relation == linitial_oid(level->relations) ||
         (!level->has_outer_join && list_member_oid(level->relations, relation));
}

bool is_user_column(const ColumnOrigin& origin) {
  const ProtectedRelation* protection = find_protected_relation(origin.relation);
  return protection != nullptr && protection->user_column > 0 &&
         protection->user_column == origin.column;
}

// ---- Conditions ----------------------------------------------------------------------------

// Calls `visit` with each term of WHERE that AND combines, in a level and in those whose rows it
// reads, each once: WITH queries may name each other many times.
template <class Visit>
void visit_terms(const Level* level, const Visit& visit, List** seen) {
  CHECK_FOR_INTERRUPTS();
  check_stack_depth();
  if (list_member_ptr(*seen, level)) return;
  *seen = lappend(*seen, const_cast<Level*>(level));
  for (auto* term : each<Node>(make_ands_implicit(as<Expr>(level->query->jointree->quals)))) {
    visit(level, term);
  }
  for (int number = 1; number <= list_length(level->query->rtable); ++number) {
    const Entry& entry = entry_of(level, number);
    const bool has_rows = entry.is_in_from && entry.borrowed == nullptr && entry.below != nullptr &&
                          !hides_rows(entry.below);
    if (has_rows) visit_terms(entry.below, visit, seen);
  }
}

template <class Visit>
void visit_terms(const PlainLevel* level, const Visit& visit) {
  List* seen = NIL;
  visit_terms(level->select, visit, &seen);
}

// The column that a term says to be equal to something without columns.
std::optional<ColumnOrigin> column_that_is_fixed(const Level* level, const Node* term) {
  if (!IsA(term, OpExpr) || list_length(as<OpExpr>(term)->args) != 2) return std::nullopt;
  const auto* equality = as<OpExpr>(term);
  auto* left = static_cast<Node*>(linitial(equality->args));
  auto* right = static_cast<Node*>(lsecond(equality->args));
  if (!op_mergejoinable(equality->opno, exprType(left))) return std::nullopt;
  if (!contain_var_clause(right)) return origin_of(level, without_relabel(left));
  return contain_var_clause(left) ? std::nullopt : origin_of(level, without_relabel(right));
}

// ---- Groups of one person ------------------------------------------------------------------

// Columns that have one value in a group: of each relation of the level, in their order.
using FixedColumns = Bitmapset**;

void add_column(const PlainLevel* level, const std::optional<ColumnOrigin>& origin,
                FixedColumns fixed) {
  if (!origin || !has_all_rows(level, origin->relation)) return;
  for (int i = 0; i < list_length(level->relations); ++i) {
    if (list_nth_oid(level->relations, i) != origin->relation) continue;
    fixed[i] = bms_add_member(fixed[i], origin->column);
  }
}

FixedColumns columns_fixed_by_conditions(const PlainLevel* level) {
  const auto count = static_cast<Size>(list_length(level->relations));
  auto* fixed = static_cast<FixedColumns>(palloc0(count * sizeof(Bitmapset*)));
  visit_terms(level, [&](const Level* at, const Node* term) {
    add_column(level, column_that_is_fixed(at, term), fixed);
  });
  return fixed;
}

// The first key that names persons, or null.
const Node* add_keys(const PlainLevel* level, FixedColumns fixed) {
  const Query* query = level->select->query;
  const Node* person = nullptr;
  for (const auto* column : each<const TargetEntry>(query->targetList)) {
    if (get_sortgroupref_clause_noerr(column->ressortgroupref, query->groupClause) == nullptr) {
      continue;
    }
    const auto* key = as<Node>(column->expr);
    const auto origin = origin_of(level->select, key);
    add_column(level, origin, fixed);
    // A column of a query around has one value in all groups.
    const bool is_own = IsA(key, Var) && as<Var>(key)->varlevelsup == 0;
    const bool has_persons = origin ? has_all_rows(level, origin->relation)
                                    : !level->has_outer_join && !level->select->has_public_side;
    if (is_own && has_persons && is_person(level->select, key) && person == nullptr) person = key;
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

bool any_relation(const PlainLevel* level, const FixedColumns fixed, OfOnePerson are_of_one) {
  for (int i = 0; i < list_length(level->relations); ++i) {
    if (are_of_one(list_nth_oid(level->relations, i), fixed[i])) return true;
  }
  return false;
}

bool are_of_one_row(const PlainLevel* level, const FixedColumns fixed) {
  return any_relation(level, fixed, are_unique);
}

// Whether all rows with one value of these columns are one, or of one person.
bool are_of_one_person(const PlainLevel* level, const FixedColumns fixed) {
  return are_of_one_row(level, fixed) || any_relation(level, fixed, names_person);
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
  FixedColumns fixed = columns_fixed_by_conditions(level);
  if (are_of_one_person(level, fixed)) {
    refuse(level->refused, kNowhere,
           "WHERE chooses the rows of one person, and a group of one person is never shown",
           "Ask about more persons, or leave out GROUP BY.");
  }
  const Node* person = add_keys(level, fixed);
  if (person != nullptr) refuse_groups_by_person(level, person);
  if (!are_of_one_person(level, fixed)) return;
  const char* key = key_of_one_person(level);
  refuse(level->refused, kNowhere,
         are_of_one_row(level, fixed)
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
  if (level->select->has_public_side) return;
  visit_terms(level, [&](const Level* at, const Node* term) {
    if (!IsA(term, NullTest) || as<NullTest>(term)->nulltesttype != IS_NULL) return;
    const auto* tested = as<Node>(as<NullTest>(term)->arg);
    const auto origin = origin_of(at, tested);
    if (!origin || !is_user_column(*origin) || !has_all_rows(level, origin->relation)) return;
    refuse(level->refused, exprLocation(tested),
           "WHERE asks for rows without a person, and these are in no answer",
           "Only rows of persons are counted. Ask the owner of the table for the others.");
  });
}

}  // namespace dpquantile
