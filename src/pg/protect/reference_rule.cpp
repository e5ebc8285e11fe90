#include "pg/protect/reference_rule.hpp"

#include "pg/facts/unique_key.hpp"
#include "pg/grants/protection_catalog.hpp"
#include "pg/protect/key_comparison.hpp"
#include "pg/server/nodes.hpp"

namespace dpquantile {

namespace {

// The reference by which a table is protected through the other one, or null.
const Reference* reference_between(Oid table, Oid other) {
  const Reference* reference = reference_to_persons(table);
  return reference != nullptr && reference->referenced == other ? reference : nullptr;
}

// Whether the conditions compare all columns of the reference, and so choose one row.
bool follows(const JudgedLevel* level, const Reference& reference, const KeyComparison& rows,
             const List* conditions) {
  List* comparisons = NIL;
  for (int i = 0; i < reference.columns; ++i) {
    Node* comparison = comparison_of_key(level->read, reference, i, rows, conditions);
    if (comparison == nullptr) return false;
    comparisons = lappend(comparisons, comparison);
  }
  const Bitmapset* known = bms_make_singleton(rows.own.entry);
  const Oid index = index_that_fixes_row(comparisons, reference.referenced, rows.key.entry, known);
  if (!OidIsValid(index) || !can_be_hashed(comparisons, rows.key.entry, known)) return false;
  List** indexes = &level->statement->indexes;
  *indexes = list_append_unique_oid(*indexes, index);
  return true;
}

// The rows of the table itself have no persons yet. They get those of the rows to which they refer,
// if each joined row has one of these.
bool may_join(const JudgedLevel* level, const ReferenceJoin& join, const KeyComparison& rows) {
  const bool is_left = bms_is_member(rows.key.entry, join.left);
  const Bitmapset* referenced = is_left ? join.left : join.right;
  const Bitmapset* referring = is_left ? join.right : join.left;
  const bool has_persons = entry_of(level, rows.own.entry).relation == nullptr;
  const bool gets_persons =
      join.type == JOIN_INNER || join.type == (is_left ? JOIN_LEFT : JOIN_RIGHT);
  return bms_is_member(rows.key.entry, referenced) && bms_is_member(rows.own.entry, referring) &&
         (has_persons || gets_persons);
}

bool is_along_reference(const JudgedLevel* level, const ReferenceJoin& join,
                        const KeyComparison& comparison) {
  if (!may_join(level, join, comparison)) return false;
  const Reference* reference =
      reference_between(comparison.own.origin.relation, comparison.key.origin.relation);
  return reference != nullptr && follows(level, *reference, comparison, join.conditions);
}

// Whether rows of persons that both parts show refer to one row, by all columns of their
// references.
bool meet_in_one_row(const JudgedLevel* level, const ReferenceJoin& join,
                     const KeyComparison& comparison) {
  const int left = comparison.key.entry;
  const int right = comparison.own.entry;
  const bool is_between = bms_is_member(left, join.left) && bms_is_member(right, join.right);
  const bool have_persons = is_between && entry_of(level, left).source != nullptr &&
                            entry_of(level, right).source != nullptr;
  if (!have_persons) return false;
  const References references = {reference_to_persons(comparison.key.origin.relation),
                                 reference_to_persons(comparison.own.origin.relation)};
  return references.of_key != nullptr && references.of_own != nullptr &&
         refer_to_one_row(level->read, references, comparison, join.conditions) &&
         can_be_hashed(join.conditions, right, bms_make_singleton(left));
}

}  // namespace

bool joins_by_reference(const JudgedLevel* level, const ReferenceJoin& join) {
  for (const auto* condition : each<const Node>(join.conditions)) {
    const KeyComparison comparison = comparison_in(level->read, condition);
    if (!OidIsValid(comparison.operation)) continue;
    if (is_along_reference(level, join, comparison)) return true;
    if (is_along_reference(level, join, turned(comparison))) return true;
    if (meet_in_one_row(level, join, comparison)) return true;
    if (meet_in_one_row(level, join, turned(comparison))) return true;
  }
  return false;
}

}  // namespace dpquantile
