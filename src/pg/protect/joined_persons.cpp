#include "pg/protect/joined_persons.hpp"

#include "pg/protect/key_comparison.hpp"
#include "pg/server/trees.hpp"

namespace dpquantile {

namespace {

// A part of FROM.
struct Part {
  const Bitmapset* entries;
  bool has_rows;  // protected ones
};

// Whether an entry gets its persons where it is first joined with other protected rows.
struct Search {
  const Level* level;
  const Reference* reference;
  int number;  // of the entry
  bool is_joined;
  bool has_persons;
};

bool has_rows(const Entry& entry) {
  const bool is_source = entry.below != nullptr && !combines_rows(entry.below->query);
  return entry.borrowed != nullptr || (is_source && entry.below->borrowed_rows != NIL);
}

// Whether the conditions compare all columns of the reference.
bool follows(const Search& search, const KeyComparison& rows, const List* conditions) {
  for (int i = 0; i < search.reference->columns; ++i) {
    if (comparison_of_key(search.level, *search.reference, i, rows, conditions) == nullptr) {
      return false;
    }
  }
  return true;
}

bool refers_to(const Search& search, int other, const List* conditions) {
  const Entry& entry = entry_of(search.level, other);
  if (entry.borrowed == nullptr || OidIsValid(entry.borrowed->through) ||
      entry.relation != search.reference->referenced || entry.table->rtekind != RTE_RELATION) {
    return false;
  }
  for (const auto* condition : each<const Node>(conditions)) {
    const KeyComparison comparison = comparison_in(search.level, condition);
    if (!OidIsValid(comparison.operation)) continue;
    for (const KeyComparison& rows : {comparison, turned(comparison)}) {
      const bool is_between = rows.key.entry == other && rows.own.entry == search.number;
      if (is_between && follows(search, rows, conditions)) return true;
    }
  }
  return false;
}

// `keeps_others`: whether each joined row has one of the other part.
void join_with(Search* search, const Part& others, const List* conditions, bool keeps_others) {
  if (search->is_joined || !others.has_rows) return;
  search->is_joined = true;
  int other = -1;
  while (keeps_others && (other = bms_next_member(others.entries, other)) >= 0) {
    search->has_persons = search->has_persons || refers_to(*search, other, conditions);
  }
}

Part joined(Search* search, const Part& left, const Part& right, JoinType type,
            const List* conditions) {
  if (bms_is_member(search->number, left.entries)) {
    join_with(search, right, conditions, type == JOIN_INNER || type == JOIN_RIGHT);
  } else if (bms_is_member(search->number, right.entries)) {
    join_with(search, left, conditions, type == JOIN_INNER || type == JOIN_LEFT);
  }
  return {bms_union(left.entries, right.entries), left.has_rows || right.has_rows};
}

// `where`: the conditions of WHERE that hold for the rows of the part.
Part search_part(Search* search, Node* part, const List* where) {
  if (IsA(part, RangeTblRef)) {
    const int number = as<RangeTblRef>(part)->rtindex;
    return {bms_make_singleton(number), has_rows(entry_of(search->level, number))};
  }
  if (!IsA(part, JoinExpr)) return {};
  const auto* join = as<JoinExpr>(part);
  const List* below = join->jointype == JOIN_INNER ? where : NIL;
  const Part left = search_part(search, join->larg, below);
  const Part right = search_part(search, join->rarg, below);
  return joined(search, left, right, join->jointype,
                list_concat_copy(terms_of(join->quals), below));
}

// A translation may have named the column that only a derived table has.
bool names_person(const Level* level, int number) {
  const AttrNumber person = added_person_of(entry_of(level, number).relation);
  return any_node(
      level->query,
      [=](const Node* node) {
        return IsA(node, Var) && static_cast<int>(as<Var>(node)->varno) == number &&
               as<Var>(node)->varattno == person;
      },
      kIntoQueries);
}

}  // namespace

bool has_joined_persons(const Level* level, int number, const Reference& reference) {
  const FromExpr* from = level->query->jointree;
  if (from == nullptr || names_person(level, number)) return false;
  Search search = {level, &reference, number, false, false};
  const List* where = terms_of(from->quals);
  Part before{};
  for (auto* part : each<Node>(from->fromlist)) {
    before = joined(&search, before, search_part(&search, part, where), JOIN_INNER, where);
  }
  return search.has_persons;
}

}  // namespace dpquantile
