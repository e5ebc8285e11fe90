#include "pg/protect/rewritten_keys.hpp"

#include "pg/aggregate/user_hash.hpp"
#include "pg/borrowed/early_lookups.hpp"
#include "pg/borrowed/early_values.hpp"
#include "pg/protect/accepted_shape.hpp"
#include "pg/protect/column_traits.hpp"
#include "pg/protect/inside.hpp"
#include "pg/protect/join_fanout.hpp"
#include "pg/protect/public_list.hpp"
#include "pg/protect/row_work.hpp"
#include "pg/protect/user_of_row.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/nodes.hpp"
#include "pg/server/query_random.hpp"
#include "pg/vocabulary/own_function.hpp"
#include "pg/vocabulary/written_values.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

namespace dpquantile {

namespace {

// ---- Keys ----------------------------------------------------------------------------------

TargetEntry* entry_of_key(const GroupKeys& keys, const SortGroupClause* key) {
  return get_sortgroupclause_tle(const_cast<SortGroupClause*>(key), keys.level->query->targetList);
}

// A key that is a set would put a row into several groups.
void check_one_value(const JudgedLevel* level, Node* key) {
  if (!expression_returns_set(key)) return;
  refuse(level->statement->refused, exprLocation(key),
         "a set-returning function in GROUP BY would put a row into several groups",
         "Count the rows that have each value, by FILTER (WHERE 'a' = ANY (tags)).");
}

// The columns of an entry of FROM that are keys.
Bitmapset* key_columns(const GroupKeys& keys, int entry) {
  Bitmapset* columns = nullptr;
  for (const auto* key : each<const SortGroupClause>(keys.level->query->groupClause)) {
    const auto* expression = entry_of_key(keys, key)->expr;
    if (!IsA(expression, Var)) continue;
    const auto* column = as<Var>(expression);
    if (column->varlevelsup > 0 || static_cast<int>(column->varno) != entry) continue;
    if (column->varattno > 0) columns = bms_add_member(columns, column->varattno);
  }
  return columns;
}

// Whether all rows of a group have the key from one row of a list.
bool is_key_of_list(const GroupKeys& keys, const Node* key) {
  if (!IsA(key, Var) || !is_public(keys.level, const_cast<Node*>(key))) return false;
  const auto* column = as<Var>(key);
  if (column->varlevelsup > 0) return false;
  const int number = static_cast<int>(column->varno);
  const JudgedEntry& entry = entry_of(keys.level, number);
  return !entry.may_have_nulls && chooses_row_of_list(entry, key_columns(keys, number));
}

// Whether the keys are those that rows of tables have, or of a list: who asks does not choose the
// hashes of the former (only those who may read protected rows write a joined table), and of the
// latter few have one.
bool is_stored_key(const JudgedLevel* level, const Node* key) {
  if (!IsA(key, Var)) return false;
  const auto* column = as<Var>(key);
  if (column->varlevelsup > 0) return false;
  const auto definition = definition_of(level, column);
  if (definition) return is_stored_key(definition->level, definition->expression);
  const JudgedEntry& entry = entry_of(level, static_cast<int>(column->varno));
  if (entry.relation != nullptr || entry.is_joined_table) return true;
  if (is_list(entry)) {
    return entry.most_rows <= kMaxElements || bms_is_member(column->varattno, entry.hashed_columns);
  }
  return holds_for_column(level, column, is_stored_key);
}

// ---- Hashes of keys ------------------------------------------------------------------------

// A hash table compares a new key with all before it that have the same hash, which can be had for
// as many rows as one likes: GROUP BY id * 4294967297. A sort is no better: PostgreSQL's stops at
// rows that are in order already, gives its short form of keys up by some rows, and takes quadratic
// time for some orders. One row decides each of these. So rows are grouped by the hash of such a
// key, too, under a secret of the plan, and no sort is below a release (oblivious_planning.hpp).
Node* hash_of_key(const JudgedLevel* level, Node* key) {
  const Oid types[] = {ANYOID, INT8OID, INT8OID};
  const Oid function = own_function("group_hash", buildoidvector(types, lengthof(types)));
  if (!OidIsValid(function)) {
    refuse(level->statement->refused, exprLocation(key), "a key in GROUP BY cannot be hashed",
           "Have the owner of the extension update it.");
  }
  uint64 halves[2];
  RandomStream* random = make_query_random(CurrentMemoryContext);
  report(guarded([&] {
    for (uint64& half : halves) half = random->bits64();
  }));
  SipKey secret;
  static_assert(sizeof(halves) == sizeof(secret));
  memcpy(secret.data(), halves, sizeof(halves));
  (void)make_value_hash(key, secret, CurrentMemoryContext);
  List* arguments = list_make1(key);
  for (const uint64 half : halves) {
    arguments = lappend(arguments, makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
                                             UInt64GetDatum(half), false, FLOAT8PASSBYVAL));
  }
  return as<Node>(makeFuncExpr(function, INT8OID, arguments, InvalidOid, exprCollation(key),
                               COERCE_EXPLICIT_CALL));
}

struct Reference {
  int of_key;
  int added;
};

// Adds a column to each grouping set that has another one.
void add_to_sets(List* sets, const Reference& reference) {
  for (auto* set : each<GroupingSet>(sets)) {
    if (set->kind != GROUPING_SET_SIMPLE) {
      add_to_sets(set->content, reference);
    } else if (list_member_int(set->content, reference.of_key)) {
      set->content = lappend_int(set->content, reference.added);
    }
  }
}

Index largest_reference(const Query* query) {
  Index largest = 0;
  for (const auto* entry : each<const TargetEntry>(query->targetList)) {
    largest = Max(largest, entry->ressortgroupref);
  }
  return largest;
}

// Adds it to the target list.
SortGroupClause* add_hash(const JudgedLevel* level, Node* hash) {
  Query* query = level->query;
  level->statement->samples = with_samples(level->statement->samples, hash);
  TargetEntry* entry = makeTargetEntry(
      as<Expr>(hash), static_cast<AttrNumber>(list_length(query->targetList) + 1), nullptr, true);
  entry->ressortgroupref = largest_reference(query) + 1;
  query->targetList = lappend(query->targetList, entry);
  SortGroupClause* group = makeNode(SortGroupClause);
  group->tleSortGroupRef = entry->ressortgroupref;
  const TypeCacheEntry* type = lookup_type_cache(INT8OID, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR);
  group->eqop = type->eq_opr;
  group->sortop = type->lt_opr;
  group->hashable = true;
  return group;
}

void group_by_hash(const JudgedLevel* level, const SortGroupClause* key, Node* rewritten) {
  Query* query = level->query;
  SortGroupClause* group = add_hash(level, hash_of_key(level, rewritten));
  query->groupClause = lappend(query->groupClause, group);
  add_to_sets(query->groupingSets,
              {static_cast<int>(key->tleSortGroupRef), static_cast<int>(group->tleSortGroupRef)});
}

// One row would decide which of several equal values is shown. 1.0 and 1.00 are one numeric, unless
// its type says how many decimals it has: it is written without the zeros at its end. -0 and 0 are
// one float8 or real, and so are all NaNs, whose bits an answer in binary shows.
Node* without_other_looks(JudgedLevel* level, Node* key) {
  const Oid type = exprType(key);
  if (type == FLOAT8OID || type == FLOAT4OID) {
    return with_bounded_work(level, with_one_of_equals(key));
  }
  if (type != NUMERICOID || exprTypmod(key) >= 0) return key;
  Node* call = as<Node>(makeFuncExpr(F_TRIM_SCALE, NUMERICOID, list_make1(key), InvalidOid,
                                     InvalidOid, COERCE_EXPLICIT_CALL));
  return with_bounded_work(level, call);
}

Node* rewrite_key(const GroupKeys& keys, const SortGroupClause* key, Node* expression) {
  JudgedLevel* level = keys.level;
  check_one_value(level, expression);
  Node* rewritten = rewrite_inside(level, expression);
  if (level->is_refused) return rewritten;
  check_key_inside(level, key, rewritten);
  count_key(level, rewritten);
  List** samples = &level->statement->samples;
  *samples = with_sample_of_key(*samples, rewritten);
  // A long id that counted as NULL would be in one group with others.
  const bool stays = keys.has_users && is_user_of_row(level, expression);
  if (!stays && !is_public(level, expression)) rewritten = with_bounded_reading(level, rewritten);
  if (is_key_of_list(keys, expression)) return rewritten;
  if (!stays) rewritten = without_other_looks(level, rewritten);
  check_key_looks(level, rewritten);
  return rewritten;
}

}  // namespace

void rewrite_keys(GroupKeys* keys) {
  for (const auto* key : each<const SortGroupClause>(keys->level->query->groupClause)) {
    auto* expression = as<Node>(entry_of_key(*keys, key)->expr);
    Node* rewritten = expression;
    attempt(keys->level, [&] { rewritten = rewrite_key(*keys, key, expression); });
    keys->asked = lappend(keys->asked, expression);
    keys->rewritten = lappend(keys->rewritten, rewritten);
  }
}

// Null if the expression is no key.
Node* rewritten_key(const GroupKeys& keys, const Node* expression) {
  for (int i = 0; i < list_length(keys.asked); ++i) {
    if (equal(expression, list_nth(keys.asked, i))) {
      return static_cast<Node*>(copyObjectImpl(list_nth(keys.rewritten, i)));
    }
  }
  return nullptr;
}

void rely_on_keys(const JudgedLevel* level) {
  List** indexes = &level->statement->indexes;
  for (const Oid oid : each_oid(level->query->constraintDeps)) {
    *indexes = list_append_unique_oid(*indexes, get_constraint_index(oid));
  }
}

void group_by_hashes(const GroupKeys& keys, const List* groups, bool all_keys) {
  for (int i = 0; i < list_length(groups); ++i) {
    const auto* as_asked = static_cast<const Node*>(list_nth(keys.asked, i));
    if (!all_keys && is_stored_key(keys.level, as_asked)) continue;
    auto* key = static_cast<Node*>(list_nth(keys.rewritten, i));
    group_by_hash(keys.level, static_cast<const SortGroupClause*>(list_nth(groups, i)),
                  static_cast<Node*>(copyObjectImpl(key)));
  }
}

SortGroupClause* add_person_hash(const JudgedLevel* level, const Node* person) {
  Node* hash = hash_of_key(level, static_cast<Node*>(copyObjectImpl(person)));
  List** hashes = &level->statement->person_hashes;
  *hashes = lappend(*hashes, copyObjectImpl(hash));
  return add_hash(level, hash);
}

}  // namespace dpquantile
