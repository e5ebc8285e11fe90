#include "pg/protect/join_fanout.hpp"

#include "pg/protect/column_traits.hpp"
#include "pg/protect/public_level.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/server/trees.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

// A hash join compares a row with each that has the same hash (distinct_values.hpp), of which there
// may be two. Before, rows with NULL in the key are left out (oblivious_joins.hpp).
constexpr double kRowsOfHash = 3;

// A table, view, list or UNION ALL in FROM of the block or of one of its sources, and no other
// source itself.
struct Base {
  const JudgedLevel* level;
  int number;
};

struct BaseColumn {
  const JudgedEntry* entry;  // of a base
  AttrNumber number;
};

// The sides of an outer join, for one of its conditions: that whose rows it keeps, and that whose
// rows it may leave out. Both are NIL for other conditions.
struct Sides {
  List* kept;    // JudgedEntry*
  List* absent;  // JudgedEntry*
};

// A condition that AND combines with the others.
struct Term {
  const JudgedLevel* level;
  Node* condition;
  List* columns;  // BaseColumn*
  Sides sides;
};

// A comparison by which PostgreSQL may join.
struct JoinKey {
  List* columns;  // BaseColumn*
  List* left;     // those of its sides
  List* right;
  bool is_hashed;
  Sides sides;
};

struct Block {
  List* bases;  // Base*
  List* terms;  // Term*, of those that are computed where rows are joined
  List* own;    // Term*, of those on one base, which are computed where it is read
  List* keys;   // JoinKey*
};

// A part of FROM.
struct Part {
  List* entries;  // JudgedEntry* of its bases
  List* absent;   // those in whose place an outer join inside puts NULLs
};

template <class Item>
Item* on_heap(Item item) {
  auto* copy = static_cast<Item*>(palloc(sizeof(Item)));
  *copy = item;
  return copy;
}

// ---- Columns of bases ----------------------------------------------------------------------

bool is_base(const JudgedEntry& entry) {
  return entry.source == nullptr || entry.source->read->unites_rows;
}

// The columns of bases from which an expression is computed: BaseColumn*.
List* columns_of(const JudgedLevel* level, const Node* expression);

List* columns_behind(const JudgedLevel* level, const Var* column) {
  if (column->varlevelsup > 0) return NIL;
  const auto definition = definition_of(level, column);
  if (definition) return columns_of(definition->level, definition->expression);
  const JudgedEntry& entry = entry_of(level, static_cast<int>(column->varno));
  return list_make1(on_heap(BaseColumn{&entry, column->varattno}));
}

List* columns_of(const JudgedLevel* level, const Node* expression) {
  List* found = NIL;
  visit_nodes(expression, [&](const Node* node) {
    if (IsA(node, Var)) found = list_concat(found, columns_behind(level, as<Var>(node)));
  });
  return found;
}

bool has_column_of(const List* columns, const JudgedEntry* entry) {
  for (const auto* base_column : each<const BaseColumn>(columns)) {
    if (base_column->entry == entry) return true;
  }
  return false;
}

bool is_of_several(const List* columns) {
  for (const auto* base_column : each<const BaseColumn>(columns)) {
    const auto* first = static_cast<const BaseColumn*>(linitial(columns));
    if (base_column->entry != first->entry) return true;
  }
  return false;
}

// `entries` are JudgedEntry*.
bool has_column_of_any(const List* columns, const List* entries) {
  for (const auto* base_column : each<const BaseColumn>(columns)) {
    if (list_member_ptr(entries, base_column->entry)) return true;
  }
  return false;
}

// ---- Conditions ----------------------------------------------------------------------------

// PostgreSQL computes a condition on one base when it reads it, unless the condition is about rows
// that an outer join keeps, or makes: `later` are their entries.
void add_terms(Block* block, const JudgedLevel* level, Node* condition, const List* later,
               Sides sides) {
  for (auto* part : each<Node>(terms_of(condition))) {
    List* columns = columns_of(level, part);
    const bool is_own = !is_of_several(columns) && !has_column_of_any(columns, later);
    List** terms = is_own ? &block->own : &block->terms;
    *terms = lappend(*terms, on_heap(Term{level, part, columns, sides}));
  }
}

// As the planner sees the condition: it makes NOT (a <> b) an equality, and takes what the sides of
// OR have in common out of it.
void add_keys(Block* block, const JudgedLevel* level, Node* condition, Sides sides) {
  Node* simple = eval_const_expressions(nullptr, condition);
  simple = as<Node>(canonicalize_qual(as<Expr>(simple), false));
  if (simple == nullptr) return;
  for (auto* part : each<Node>(terms_of(simple))) {
    if (!IsA(part, OpExpr) || list_length(as<OpExpr>(part)->args) != 2) continue;
    const auto* comparison = as<OpExpr>(part);
    const Oid type = exprType(static_cast<Node*>(linitial(comparison->args)));
    const bool is_hashed = op_hashjoinable(comparison->opno, type);
    if (!is_hashed && !op_mergejoinable(comparison->opno, type)) continue;
    List* columns = columns_of(level, part);
    if (!is_of_several(columns)) continue;
    List* left = columns_of(level, static_cast<Node*>(linitial(comparison->args)));
    List* right = columns_of(level, static_cast<Node*>(lsecond(comparison->args)));
    block->keys = lappend(block->keys, on_heap(JoinKey{columns, left, right, is_hashed, sides}));
  }
}

void add_conditions(Block* block, const JudgedLevel* level, Node* condition, const List* later,
                    Sides sides = {}) {
  if (condition == nullptr) return;
  // WHERE may be a list of conditions.
  if (IsA(condition, List)) {
    condition = as<Node>(make_ands_explicit(as<List>(condition)));
  }
  add_terms(block, level, condition, later, sides);
  add_keys(block, level, condition, sides);
}

// ---- FROM ----------------------------------------------------------------------------------

Part walk(Block* block, const JudgedLevel* level, Node* from);

Part walk_join(Block* block, const JudgedLevel* level, const JoinExpr* join) {
  const Part left = walk(block, level, join->larg);
  const Part right = walk(block, level, join->rarg);
  List* entries = list_concat_copy(left.entries, right.entries);
  List* absent = list_concat_copy(left.absent, right.absent);
  if (join->jointype == JOIN_INNER) {
    add_conditions(block, level, join->quals, absent);
    return {entries, absent};
  }
  const bool keeps_left = join->jointype == JOIN_LEFT;
  const Part& kept = keeps_left ? left : right;
  const Part& other = keeps_left ? right : left;
  add_conditions(block, level, join->quals, list_concat_copy(absent, kept.entries),
                 {kept.entries, other.entries});
  return {entries, list_concat(absent, other.entries)};
}

void count_comparisons_of_branches(const JudgedLevel* level) {
  for (int i = 1; i <= list_length(level->query->rtable); ++i) {
    count_comparisons(const_cast<JudgedLevel*>(entry_of(level, i).source));
  }
}

Part walk_entry(Block* block, const JudgedLevel* level, int number) {
  JudgedEntry& entry = entry_of(level, number);
  if (!is_base(entry)) {
    return walk(block, entry.source, as<Node>(entry.source->query->jointree));
  }
  if (entry.source != nullptr) count_comparisons_of_branches(entry.source);
  block->bases = lappend(block->bases, on_heap(Base{level, number}));
  return {list_make1(&entry), NIL};
}

Part walk(Block* block, const JudgedLevel* level, Node* from) {
  if (IsA(from, JoinExpr)) return walk_join(block, level, as<JoinExpr>(from));
  if (IsA(from, RangeTblRef)) {
    return walk_entry(block, level, as<RangeTblRef>(from)->rtindex);
  }
  const auto* list = as<FromExpr>(from);
  Part all{};
  for (auto* node : each<Node>(list->fromlist)) {
    const Part part = walk(block, level, node);
    all = {list_concat(all.entries, part.entries), list_concat(all.absent, part.absent)};
  }
  add_conditions(block, level, list->quals, all.absent);
  return all;
}

// The planner moves a condition of HAVING without aggregates to WHERE.
void add_having(Block* block, const JudgedLevel* level, const List* absent) {
  for (auto* part : each<Node>(terms_of(level->query->havingQual))) {
    if (!contain_aggs_of_level(part, 0)) add_conditions(block, level, part, absent);
  }
}

// ---- Lists ---------------------------------------------------------------------------------

// How often the conditions on a list are computed for a row.
struct Comparisons {
  double rows;
  bool may_multiply;  // whether a join by some of the conditions may match as many
};

// Whether a condition is on the list and one other base, which is `*other` if that is known.
bool has_one_other(const List* columns, const JudgedEntry* list, const JudgedEntry** other) {
  for (const auto* base_column : each<const BaseColumn>(columns)) {
    const JudgedEntry* entry = base_column->entry;
    if (entry == list) continue;
    if (*other != nullptr && *other != entry) return false;
    *other = entry;
  }
  return true;
}

// All conditions on the same two bases are computed where these are joined.
bool are_computed_together(const List* terms, const JudgedEntry* list) {
  const JudgedEntry* other = nullptr;
  for (const auto* term : each<const Term>(terms)) {
    if (!has_one_other(term->columns, list, &other)) return false;
  }
  return true;
}

enum class OuterSide {
  kKept,    // the one whose rows all stay
  kAbsent,  // the one in whose place NULLs may be
};

// The conditions of the outer join of which a list is this side; NIL if there is none.
const List* conditions_with_side(Node* from, int list, OuterSide side) {
  if (IsA(from, FromExpr)) {
    for (auto* node : each<Node>(as<FromExpr>(from)->fromlist)) {
      if (const List* found = conditions_with_side(node, list, side)) return found;
    }
    return NIL;
  }
  if (!IsA(from, JoinExpr)) return NIL;
  const auto* join = as<JoinExpr>(from);
  const bool is_left = join->jointype == JOIN_LEFT;
  const Node* found_side = is_left == (side == OuterSide::kKept) ? join->larg : join->rarg;
  const bool is_list = (is_left || join->jointype == JOIN_RIGHT) && IsA(found_side, RangeTblRef) &&
                       as<RangeTblRef>(found_side)->rtindex == list;
  if (is_list) return terms_of(join->quals);
  const List* found = conditions_with_side(join->larg, list, side);
  return found != NIL ? found : conditions_with_side(join->rarg, list, side);
}

bool keeps_public_rows(const JudgedLevel* block) {
  for (auto* part : each<Node>(terms_of(block->query->havingQual))) {
    if (!contain_aggs_of_level(part, 0) && !is_public(block, part)) return false;
  }
  return block->keeps_public_rows;
}

bool has_protected_rows(const JudgedEntry& entry) {
  return !entry.is_joined_table && !is_list(entry) && entry.public_level == nullptr;
}

bool have_protected_rows(const List* entries) {
  for (const auto* entry : each<const JudgedEntry>(entries)) {
    if (has_protected_rows(*entry)) return true;
  }
  return false;
}

// Whether PostgreSQL joins a table or list with protected rows before it computes a condition: that
// is one of an outer join of both with public rows, which stay. It makes no inner join of it,
// because no condition drops public rows.
bool is_joined_before(const JudgedLevel* block, const Sides& sides, const JudgedEntry* entry) {
  return keeps_public_rows(block) && list_member_ptr(sides.absent, entry) &&
         have_protected_rows(sides.absent) && !have_protected_rows(sides.kept);
}

// All conditions of an outer join that keeps the rows of the list are computed where these are
// joined, also those on several other bases: PostgreSQL joins the bases of the other side before.
// It makes no inner join of it, because no condition drops rows of the list.
bool are_of_kept_list(const JudgedLevel* block, const Base& base, const List* terms) {
  if (base.level != block || !keeps_public_rows(block)) return false;
  const List* conditions =
      conditions_with_side(as<Node>(block->query->jointree), base.number, OuterSide::kKept);
  for (const auto* term : each<const Term>(terms)) {
    if (!list_member_ptr(conditions, term->condition)) return false;
  }
  return true;
}

bool has_list(const JudgedLevel* level, const Node* expression, const JudgedEntry* list) {
  return has_column_of(columns_of(level, expression), list);
}

// Whether an expression has columns of a list in WHEN of CASE alone.
bool has_list_in_when(const JudgedLevel* level, const Node* expression, const JudgedEntry* list) {
  check_stack_depth();
  if (!has_list(level, expression, list)) return true;
  if (IsA(expression, Var)) {
    const auto definition = definition_of(level, as<Var>(expression));
    return definition && has_list_in_when(definition->level, definition->expression, list);
  }
  if (!IsA(expression, CaseExpr)) {
    return !any_child(const_cast<Node*>(expression),
                      [=](const Node* child) { return !has_list_in_when(level, child, list); });
  }
  const auto* choice = as<CaseExpr>(expression);
  for (const auto* branch : each<const CaseWhen>(choice->args)) {
    if (has_list(level, as<Node>(branch->result), list)) return false;
  }
  return !has_list(level, as<Node>(choice->arg), list) &&
         !has_list(level, as<Node>(choice->defresult), list);
}

// The terms that are computed where PostgreSQL joins a list. An outer join that puts NULLs in the
// place of its rows is by its own conditions. Others see the rows that come out of it, unless one
// is never true of the NULLs, so that PostgreSQL makes an inner join of it. It does not look into
// CASE for that (find_nonnullable_rels).
List* terms_at_join(const Base& base, List* terms) {
  const JudgedEntry* list = &entry_of(base.level, base.number);
  const List* conditions =
      conditions_with_side(as<Node>(base.level->query->jointree), base.number, OuterSide::kAbsent);
  if (conditions == NIL) return terms;
  List* own = NIL;
  const ListCell* cell;
  foreach (cell, terms) {
    const auto* term = static_cast<const Term*>(lfirst(cell));
    if (list_member_ptr(conditions, term->condition)) {
      own = lappend(own, lfirst(cell));
    } else if (!has_list_in_when(term->level, term->condition, list)) {
      return terms;
    }
  }
  return own;
}

// Those that are computed where the list is joined with protected rows, and not later. Where they
// find one row of it, later ones are computed no more often for it.
List* terms_before(const JudgedLevel* block, const List* terms, const JudgedEntry* list) {
  List* earlier = NIL;
  for (auto* term : each<Term>(terms)) {
    if (!is_joined_before(block, term->sides, list)) earlier = lappend(earlier, term);
  }
  return earlier;
}

Comparisons comparisons_with_list(const JudgedLevel* level, const Block& block, const Base& base) {
  const JudgedEntry& list = entry_of(base.level, base.number);
  List* terms = NIL;
  const ListCell* cell;
  foreach (cell, block.terms) {
    const auto* term = static_cast<const Term*>(lfirst(cell));
    const bool compares = is_of_several(term->columns) && has_column_of(term->columns, &list);
    if (compares) terms = lappend(terms, lfirst(cell));
  }
  terms = terms_at_join(base, terms);
  const List* earlier = terms_before(level, terms, &list);
  List* conditions = NIL;
  bool is_one_level = true;
  for (const auto* term : each<const Term>(earlier)) {
    conditions = lappend(conditions, const_cast<Node*>(term->condition));
    is_one_level = is_one_level && term->level == base.level;
  }
  const bool are_together =
      are_computed_together(terms, &list) || are_of_kept_list(level, base, terms);
  const bool is_found = is_one_level && (are_together || are_computed_together(earlier, &list)) &&
                        hash_finds_row_of_list(base.level, conditions, base.number);
  if (is_found) return {kRowsOfHash, false};
  return {static_cast<double>(list.most_rows), !are_together};
}

// ---- Public tables -------------------------------------------------------------------------

bool share_other_entry(const JoinKey& one, const JoinKey& other, const JudgedEntry* entry) {
  for (const auto* column : each<const BaseColumn>(one.columns)) {
    if (column->entry != entry && has_column_of(other.columns, column->entry)) return true;
  }
  return false;
}

// Whether two columns of an entry may have values that the user chooses for each other. Two columns
// of a table have those of its rows.
bool may_be_chosen(const JudgedEntry& entry, AttrNumber one, AttrNumber other) {
  const StoredColumn first = stored_column(entry, one);
  const StoredColumn second = stored_column(entry, other);
  return first.entry == nullptr || first.entry != second.entry || first.number == second.number;
}

bool share_column(const JoinKey& one, const JoinKey& other, const JudgedEntry* entry) {
  for (const auto* column : each<const BaseColumn>(one.columns)) {
    for (const auto* other_column : each<const BaseColumn>(other.columns)) {
      if (column->entry == entry && other_column->entry == entry &&
          may_be_chosen(*entry, column->number, other_column->number)) {
        return true;
      }
    }
  }
  return false;
}

bool share_entry(const List* columns, const List* others) {
  for (const auto* column : each<const BaseColumn>(columns)) {
    if (has_column_of(others, column->entry)) return true;
  }
  return false;
}

// Whether no join is by both keys: one of them computes a side from the table and another entry,
// with which the other key joins the table.
bool are_of_different_joins(const JoinKey& one, const JoinKey& other, const JudgedEntry* entry) {
  const bool is_left = has_column_of(one.left, entry);
  const bool is_other_left = has_column_of(other.left, entry);
  if (is_left == has_column_of(one.right, entry)) return false;
  if (is_other_left == has_column_of(other.right, entry)) return false;
  return share_entry(is_left ? one.left : one.right, is_other_left ? other.right : other.left) ||
         share_entry(is_other_left ? other.left : other.right, is_left ? one.right : one.left);
}

// Where two keys compare a table with the same rows, PostgreSQL combines their hashes. Those of one
// column cancel each other, and one that has no hash is compared for each row that the other finds.
bool may_meet_many(const JoinKey& one, const JoinKey& other, const JudgedEntry* entry) {
  if (!share_other_entry(one, other, entry)) return false;
  if (are_of_different_joins(one, other, entry)) return false;
  return !one.is_hashed || !other.is_hashed || share_column(one, other, entry);
}

[[noreturn]] void refuse_many(const Base& base, const char* hint) {
  refuse_with_code(base.level->statement->refused, ERRCODE_STATEMENT_TOO_COMPLEX, kNowhere,
                   psprintf("a protected row may be compared with many rows of \"%s\"",
                            rt_fetch(base.number, base.level->query->rtable)->eref->aliasname),
                   hint);
}

// The other bases of which columns are: JudgedEntry*.
List* others_of(const List* columns, const JudgedEntry* entry) {
  List* others = NIL;
  for (const auto* column : each<const BaseColumn>(columns)) {
    if (column->entry == entry) continue;
    others = list_append_unique_ptr(others, const_cast<JudgedEntry*>(column->entry));
  }
  return others;
}

// Whether the conditions on a base and these others alone choose a row of it.
bool fix_row(const Block& block, const Base& base, const List* others) {
  const JudgedEntry* entry = &entry_of(base.level, base.number);
  List* conditions = NIL;
  Bitmapset* known = nullptr;
  for (const auto* term : each<const Term>(list_concat_copy(block.terms, block.own))) {
    if (term->level != base.level || !has_column_of(term->columns, entry)) continue;
    if (list_difference_ptr(others_of(term->columns, entry), others) != NIL) continue;
    conditions = lappend(conditions, term->condition);
    visit_nodes(term->condition, [&](const Node* node) {
      if (!IsA(node, Var) || as<Var>(node)->varlevelsup > 0) return;
      known = bms_add_member(known, static_cast<int>(as<Var>(node)->varno));
    });
  }
  return fixes_row(base.level, base.number, conditions, bms_del_member(known, base.number));
}

// The bases that keys connect with some before this one is joined: JudgedEntry*.
List* connected(const JudgedLevel* level, const Block& block, const JudgedEntry* without,
                const List* bases) {
  List* found = list_copy(bases);
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto* key : each<const JoinKey>(block.keys)) {
      if (has_column_of(key->columns, without) || is_joined_before(level, key->sides, without))
        continue;
      List* own = others_of(key->columns, without);
      const bool meets = list_length(list_difference_ptr(own, found)) < list_length(own);
      if (!meets) continue;
      const int before = list_length(found);
      found = list_concat_unique_ptr(found, own);
      grows = grows || list_length(found) > before;
    }
  }
  return found;
}

// PostgreSQL may join a table by some of its keys with protected rows before it joins what the
// others compare it with. So what one key compares it with, and a base with protected rows that is
// there, too, must be enough to choose a row of it. An outer join is by all of its conditions.
void check_parts_of_key(const JudgedLevel* level, const Block& block, const Base& base,
                        const List* keys) {
  const JudgedEntry* entry = &entry_of(base.level, base.number);
  if (entry->may_be_absent) return;
  for (const auto* key : each<const JoinKey>(keys)) {
    List* others = others_of(key->columns, entry);
    bool has_rows = false;
    for (const auto* other : each<const JudgedEntry>(others)) {
      has_rows = has_rows || has_protected_rows(*other);
    }
    bool is_chosen = !has_rows || fix_row(block, base, others);
    if (!has_rows) {
      for (auto* rows : each<JudgedEntry>(connected(level, block, entry, others))) {
        if (!has_protected_rows(*rows)) continue;
        is_chosen = is_chosen && fix_row(block, base, lappend(list_copy(others), rows));
      }
    }
    if (is_chosen) continue;
    refuse_many(base,
                "Compare all columns of its key with columns of one table. Write other comparisons "
                "of its columns in the aggregate: sum(price) FILTER (WHERE d.region = s.region).");
  }
}

void check_table(const JudgedLevel* level, const Block& block, const Base& base) {
  const JudgedEntry* entry = &entry_of(base.level, base.number);
  List* keys = NIL;
  const ListCell* cell;
  foreach (cell, block.keys) {
    const auto* key = static_cast<const JoinKey*>(lfirst(cell));
    if (!has_column_of(key->columns, entry) || is_joined_before(level, key->sides, entry)) continue;
    for (const auto* other : each<const JoinKey>(keys)) {
      if (!may_meet_many(*other, *key, entry)) continue;
      refuse_many(base,
                  "Compare each of its columns in one condition only, with a value of its own "
                  "type: d.day = hired::date.");
    }
    keys = lappend(keys, lfirst(cell));
  }
  check_parts_of_key(level, block, base, keys);
}

}  // namespace

void count_comparisons(JudgedLevel* level) {
  Block block{};
  const Part from = walk(&block, level, as<Node>(level->query->jointree));
  add_having(&block, level, from.absent);
  if (list_length(block.bases) < 2) return;
  double multiplied = 1;
  double compared = kRowsOfHash;
  for (const auto* base : each<const Base>(block.bases)) {
    const JudgedEntry& entry = entry_of(base->level, base->number);
    if (entry.is_joined_table || entry.public_level != nullptr) check_table(level, block, *base);
    if (!is_list(entry)) continue;
    const Comparisons list = comparisons_with_list(level, block, *base);
    if (list.may_multiply) multiplied *= list.rows;
    compared = Max(compared, list.rows);
  }
  // What is compared is computed once for the hash of the row, too. That has been counted.
  for (const auto* term : each<const Term>(block.terms)) {
    count_again(term->level, term->condition, multiplied * compared);
  }
}

}  // namespace dpquantile
