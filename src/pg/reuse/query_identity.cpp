#include "pg/reuse/query_identity.hpp"

#include "pg/reuse/answer_order.hpp"

extern "C" {
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

namespace dpquantile {

namespace {

constexpr uint64 kSeed = 0x6465656d;
// A level is printed with all levels below, so deep queries would take quadratic time.
constexpr int64 kMostBytes = 1 << 20;
constexpr char kLocation[] = ":location ";

// ---- What does not count -------------------------------------------------------------------

bool forget_spelling(Node* node, void* unused);

void forget_spelling_of_query(Query* query) {
  query->stmt_location = -1;
  query->stmt_len = 0;
  query->queryId = 0;
  query->canSetTag = true;  // not in WITH
  (void)query_tree_walker(query, DPQ_TREE_WALKER(forget_spelling), nullptr,
                          QTW_EXAMINE_RTES_BEFORE);
}

// For expression_tree_walker() over a copy, which it changes.
bool forget_spelling(Node* node, void* unused) {
  if (node == nullptr) return false;
  if (IsA(node, RangeTblEntry)) {
    auto* entry = reinterpret_cast<RangeTblEntry*>(node);
    entry->alias = nullptr;
    entry->eref = nullptr;
    return false;
  }
  if (IsA(node, Query)) {
    forget_spelling_of_query(reinterpret_cast<Query*>(node));
    return false;
  }
  if (IsA(node, TargetEntry)) {
    auto* column = reinterpret_cast<TargetEntry*>(node);
    column->resname = nullptr;
    column->resorigtbl = InvalidOid;
    column->resorigcol = 0;
  }
  if (IsA(node, JoinExpr)) {
    reinterpret_cast<JoinExpr*>(node)->alias = nullptr;
    reinterpret_cast<JoinExpr*>(node)->join_using_alias = nullptr;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(forget_spelling), unused);
}

// No name and no constant looks like a location: their spaces are escaped.
void forget_locations(char* text) {
  char* to = text;
  for (const char* from = text; *from != '\0';) {
    if (strncmp(from, kLocation, sizeof kLocation - 1) != 0) {
      *to++ = *from++;
      continue;
    }
    from += sizeof kLocation - 1;
    if (*from == '-') ++from;
    while (*from >= '0' && *from <= '9') ++from;
  }
  *to = '\0';
}

// For query_tree_walker(). Whether a level, or one below it, reads a CTE of the levels around it.
// `context` is the depth below the level, an Index*.
bool reads_cte_around(Node* node, void* context) {
  if (node == nullptr) return false;
  const Index depth = *static_cast<const Index*>(context);
  if (IsA(node, RangeTblEntry)) {
    const auto* entry = reinterpret_cast<const RangeTblEntry*>(node);
    return entry->rtekind == RTE_CTE && entry->ctelevelsup > depth;
  }
  if (IsA(node, Query)) {
    Index below = depth + 1;
    return query_tree_walker(reinterpret_cast<Query*>(node), DPQ_TREE_WALKER(reads_cte_around),
                             &below, QTW_EXAMINE_RTES_BEFORE);
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(reads_cte_around), context);
}

bool depends_on_ctes_around(Query* query) {
  Index depth = 0;
  return query_tree_walker(query, DPQ_TREE_WALKER(reads_cte_around), &depth,
                           QTW_EXAMINE_RTES_BEFORE);
}

uint64 hash_of_text(const char* text) {
  return hash_bytes_extended(reinterpret_cast<const unsigned char*>(text),
                             static_cast<int>(strlen(text)), kSeed);
}

uint64 identity_without_spelling(const Query* query, bool is_top, int64* bytes_left) {
  CHECK_FOR_INTERRUPTS();
  if (*bytes_left <= 0) return 0;
  auto* copy = static_cast<Query*>(copyObjectImpl(query));
  if (copy->hasAggs) forget_order(copy, is_top);
  forget_spelling_of_query(copy);
  char* text = nodeToString(copy);
  *bytes_left -= static_cast<int64>(strlen(text));
  forget_locations(text);
  return hash_of_text(text);
}

// ---- All levels ----------------------------------------------------------------------------

// What a level means depends on the CTEs of the levels around it if it reads one.
struct Stamp {
  uint64 around;
  bool is_top;
  int64* bytes_left;  // of text for all levels; levels beyond have no identity
};

// For query_tree_walker(). `context` is a Stamp*.
bool stamp(Node* node, void* context);

void stamp_level(Query* query, Stamp outer) {
  if (query->cteList != NIL) {
    outer.around = hash_combine64(outer.around,
                                  identity_without_spelling(query, outer.is_top, outer.bytes_left));
  }
  Stamp below = {outer.around, false, outer.bytes_left};
  (void)query_tree_walker(query, DPQ_TREE_WALKER(stamp), &below, 0);
  if (!query->hasAggs || *outer.bytes_left <= 0) return;
  const uint64 around = depends_on_ctes_around(query) ? outer.around : 0;
  const uint64 identity =
      hash_combine64(around, identity_without_spelling(query, outer.is_top, outer.bytes_left));
  query->queryId = static_cast<decltype(query->queryId)>(identity);
}

bool stamp(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Query)) {
    stamp_level(reinterpret_cast<Query*>(node), *static_cast<Stamp*>(context));
    return false;
  }
  return expression_tree_walker(node, DPQ_TREE_WALKER(stamp), context);
}

}  // namespace

void stamp_identities(Query* query) {
  int64 bytes_left = kMostBytes;
  stamp_level(query, {0, true, &bytes_left});
}

uint64 identity_of_expression(const Node* expression) {
  char* text = nodeToString(expression);
  forget_locations(text);
  return hash_of_text(text);
}

// ---- Columns -------------------------------------------------------------------------------

namespace {

void combine(uint64* identity, uint64 number) {
  *identity = hash_combine64(*identity, number);
}

// The planner puts NULL in the place of a column that nobody uses.
void add_use_of_columns(const Query* query, uint64* identity) {
  const ListCell* cell;
  foreach (cell, query->targetList) {
    const auto* column = static_cast<const TargetEntry*>(lfirst(cell));
    if (column->resjunk) continue;
    const bool is_unused =
        IsA(column->expr, Const) && reinterpret_cast<const Const*>(column->expr)->constisnull;
    combine(identity, is_unused ? 1 : 2);
  }
}

// The planner numbers the aggregates in the order of the query's text, and it has no other columns
// than aggregates, keys, GROUPING() and what comes from FROM. With the identity of the level this
// says what a column is.
void add_column(const Node* expression, Index key, const ReferenceNumbers& keys, uint64* identity) {
  combine(identity, static_cast<uint64>(nodeTag(expression)));
  combine(identity, exprType(expression));
  combine(identity, number_of(keys, key));
  if (IsA(expression, Aggref)) {
    const auto* call = reinterpret_cast<const Aggref*>(expression);
    combine(identity, call->aggfnoid);
    combine(identity, static_cast<uint64>(call->aggno));
  } else if (IsA(expression, GroupingFunc)) {
    const ListCell* cell;
    foreach (cell, reinterpret_cast<const GroupingFunc*>(expression)->refs) {
      combine(identity, number_of(keys, static_cast<Index>(lfirst_int(cell))));
    }
  } else if (IsA(expression, Var)) {
    const auto* column = reinterpret_cast<const Var*>(expression);
    combine(identity, static_cast<uint64>(column->varno));
    combine(identity, static_cast<uint64>(column->varattno));
  } else if (IsA(expression, PlaceHolderVar)) {
    combine(identity, reinterpret_cast<const PlaceHolderVar*>(expression)->phid);
  }
}

}  // namespace

uint64 identity_with_columns(const Query* query, const PathTarget* columns) {
  uint64 identity = identity_of(query);
  if (identity == 0) return 0;
  add_use_of_columns(query, &identity);
  const ReferenceNumbers keys = number_references(query);
  const ListCell* cell;
  foreach (cell, columns->exprs) {
    const Index reference = get_pathtarget_sortgroupref(columns, foreach_current_index(cell));
    add_column(static_cast<const Node*>(lfirst(cell)), reference, keys, &identity);
  }
  return identity;
}

}  // namespace dpquantile
