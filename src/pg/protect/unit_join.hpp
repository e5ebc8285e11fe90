#pragma once

#include "pg/protect/judged_level.hpp"

// Joins of protected tables with each other. Tables whose owner has stated the same unit for them
// may be joined by their user columns. Then each joined row is of one person, and adding or
// removing a person adds or removes only rows of this person (Lemma 34d of
// docs/privacy/relations.md).
namespace dpquantile {

// Two parts of FROM with protected rows.
struct UnitJoin {
  const Bitmapset* left;  // entries of FROM
  const Bitmapset* right;
  const List* conditions;  // which AND combines, and without which there is no joined row
  JoinType type;
  const Node* at;         // what to point at, or null
  bool is_union = false;  // whether their rows are combined by UNION ALL, without a condition
};

// ereports unless the tables of both parts are of one unit.
void check_one_unit(const JudgedLevel* level, const UnitJoin& join);

// ereports unless the tables of both parts are of one unit, none is in both (but where a reference
// joins groups of which a row meets one at most), and a condition says
// that a user column of the one is equal to one of the other, or that rows of the one refer to
// those of the other (reference_rule.hpp). An equality of different ids would join the rows of
// several persons.
void check_unit_join(const JudgedLevel* level, const UnitJoin& join);

// Whether ids of both types are the same person if they are equal: integers, or texts.
bool are_ids_of_one_kind(Oid one, Oid other);

// Whether texts of different bytes are different ids.
bool has_usual_collation(const Node* id);

// Whether the = of GROUP BY tells ids apart as joins by persons do. `id` is a column of persons.
bool groups_ids(Oid equality, const Node* id);

// The relations whose rows an entry of FROM has, BorrowedRelation, and the OIDs of the tables that
// these are rows of, without those that only say whose they are: a join with one of these squares
// nothing.
List* relations_of_entry(const JudgedLevel* level, int number);
List* tables_of_entry(const JudgedLevel* level, int number);

// Those of them of whose rows a person may have several in the entry.
List* limiting_relations_of_entry(const JudgedLevel* level, int number);
List* limiting_tables_of_entry(const JudgedLevel* level, int number);

}  // namespace dpquantile
