#include "pg/reuse/query_identity.hpp"

extern "C" {
#include "common/hashfn.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
}

namespace dpquantile {

namespace {

constexpr uint64 kSeed = 0x6465656d;
constexpr char kLocation[] = ":location ";

// ---- What does not count -------------------------------------------------------------------

bool forget_spelling(Node* node, void* unused);

void forget_spelling_of_query(Query* query) {
  query->stmt_location = -1;
  query->stmt_len = 0;
  query->queryId = 0;
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
  if (IsA(node, TargetEntry)) reinterpret_cast<TargetEntry*>(node)->resname = nullptr;
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

uint64 identity_without_spelling(const Query* query) {
  auto* copy = static_cast<Query*>(copyObjectImpl(query));
  forget_spelling_of_query(copy);
  char* text = nodeToString(copy);
  forget_locations(text);
  return hash_bytes_extended(reinterpret_cast<const unsigned char*>(text),
                             static_cast<int>(strlen(text)), kSeed);
}

// ---- All levels ----------------------------------------------------------------------------

// What a level means may depend on the CTEs of the levels around it.
struct Stamp {
  uint64 around;
};

// For query_tree_walker(). `context` is a Stamp*.
bool stamp(Node* node, void* context);

void stamp_level(Query* query, Stamp outer) {
  if (query->cteList != NIL) {
    outer.around = hash_combine64(outer.around, identity_without_spelling(query));
  }
  (void)query_tree_walker(query, DPQ_TREE_WALKER(stamp), &outer, 0);
  if (!query->hasAggs) return;
  const uint64 identity = hash_combine64(outer.around, identity_without_spelling(query));
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
  stamp_level(query, {0});
}

}  // namespace dpquantile
