#pragma once

#include <type_traits>

#include "pg/server/nodes.hpp"

extern "C" {
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
}

// Searches and copies of PostgreSQL's trees by a callable, in place of a walker or a mutator with a
// context of its own: query_tree_walker(), expression_tree_walker(), their mutators.
//
//   const bool counts = any_node(query->targetList, [](Node* node) { return IsA(node, Aggref); });
//
// The callable may raise an error, so what it captures has no destructor. It is copied: what it
// changes it captures by reference. It never gets null. A tree may be any node, or a list of them;
// null has no nodes.
namespace dpquantile {

// What a search or a copy does with the subqueries that it comes to, whose Query is a node in any
// case: it stops there as PostgreSQL's walkers of expressions do, or goes into them. The flags of
// query_tree_walker() (QTW_...) may be added to kIntoQueries.
inline constexpr int kLeaveQueries = -1;
inline constexpr int kIntoQueries = 0;

// ---- The nodes right below one -------------------------------------------------------------

// How PostgreSQL calls a callable: its context is the callable.
template <class Callable>
struct Callback {
  static_assert(std::is_trivially_destructible_v<Callable>, "an error would skip a destructor");

  static void* context(const Callable& callable) { return const_cast<Callable*>(&callable); }
  static bool walk(Node* node, void* context) {
    return node != nullptr && (*static_cast<const Callable*>(context))(node);
  }
  static Node* mutate(Node* node, void* context) {
    return node == nullptr ? nullptr : (*static_cast<const Callable*>(context))(node);
  }
};

// Whether something is true of a node right below this one. It is not asked of those after the
// first of which it is. What is below an entry of a range table PostgreSQL visits by itself.
template <class Callable>
bool any_child(Node* node, const Callable& is_searched, int queries = kLeaveQueries) {
  using Walker = Callback<Callable>;
  void* context = Walker::context(is_searched);
  if (queries != kLeaveQueries && IsA(node, RangeTblEntry)) return false;
  if (queries == kLeaveQueries || !IsA(node, Query)) {
    return expression_tree_walker(node, DPQ_TREE_WALKER(Walker::walk), context);
  }
  check_stack_depth();
  return query_tree_walker(as<Query>(node), DPQ_TREE_WALKER(Walker::walk), context, queries);
}

// A copy of the node in which each node right below it is what `changed` makes of it.
template <class Callable>
Node* with_children(Node* node, const Callable& changed, int queries = kLeaveQueries) {
  using Mutator = Callback<Callable>;
  CHECK_FOR_INTERRUPTS();
  void* context = Mutator::context(changed);
  if (queries == kLeaveQueries || !IsA(node, Query)) {
    return expression_tree_mutator(node, DPQ_TREE_MUTATOR(Mutator::mutate), context);
  }
  check_stack_depth();
  return as<Node>(
      query_tree_mutator(as<Query>(node), DPQ_TREE_MUTATOR(Mutator::mutate), context, queries));
}

// ---- All nodes -----------------------------------------------------------------------------

// What a search does after it has looked at a node.
enum class Look {
  kBelow,  // looks at what is below the node
  kPast,   // leaves it out
  kFound,  // ends
};

// Whether a search has found something. `look` gives a Look for each node, from above.
template <class Tree, class Callable>
bool search(Tree* tree, Callable look, int queries = kLeaveQueries) {
  struct Search {
    Callable look;
    int queries;

    bool operator()(Node* node) const {
      const Look next = look(node);
      return next == Look::kBelow ? any_child(node, *this, queries) : next == Look::kFound;
    }
  };
  auto* top = const_cast<Node*>(as<Node>(tree));
  return top != nullptr && Search{look, queries}(top);
}

// Whether something is true of a node of the tree.
template <class Tree, class Callable>
bool any_node(Tree* tree, Callable is_searched, int queries = kLeaveQueries) {
  return search(
      tree, [=](Node* node) { return is_searched(node) ? Look::kFound : Look::kBelow; }, queries);
}

// Calls `visit` with each node of the tree.
template <class Tree, class Callable>
void visit_nodes(Tree* tree, Callable visit, int queries = kLeaveQueries) {
  (void)any_node(
      tree,
      [=](Node* node) {
        visit(node);
        return false;
      },
      queries);
}

// The number of nodes of the tree that are no lists; one more than `most` if there are more.
template <class Tree>
int count_nodes(Tree* tree, int most) {
  int nodes = 0;
  (void)any_node(tree, [&](Node* node) { return !IsA(node, List) && ++nodes > most; });
  return nodes;
}

// A copy of the tree in which each node for which `replacement` gives another is that one. Below
// the others, for which it gives null, it is asked again.
template <class Tree, class Callable>
Tree* mapped(Tree* tree, Callable replacement, int queries = kLeaveQueries) {
  struct Copy {
    Callable replacement;
    int queries;

    Node* operator()(Node* node) const {
      Node* other = replacement(node);
      return other != nullptr ? other : with_children(node, *this, queries);
    }
  };
  if (tree == nullptr) return nullptr;
  return as<Tree>(Copy{replacement, queries}(as<Node>(tree)));
}

// ---- Expressions ---------------------------------------------------------------------------

// An expression without casts that leave its bytes as they are.
inline Node* without_relabel(Node* expression) {
  while (IsA(expression, RelabelType)) {
    expression = as<Node>(as<RelabelType>(expression)->arg);
  }
  return expression;
}

inline bool is_outer_join(const Node* node) {
  return IsA(node, JoinExpr) && as<JoinExpr>(node)->jointype != JOIN_INNER;
}

// ---- Conditions ----------------------------------------------------------------------------

// The terms of a condition that AND combines; of another condition itself. Null has none.
inline List* terms_of(const Node* condition) {
  auto* node = const_cast<Node*>(condition);
  if (node == nullptr) return NIL;
  if (IsA(node, List)) return as<List>(node);
  if (!is_andclause(node)) return list_make1(node);
  check_stack_depth();
  List* terms = NIL;
  for (const auto* term : each<const Node>(as<BoolExpr>(node)->args)) {
    terms = list_concat(terms, terms_of(term));
  }
  return terms;
}

}  // namespace dpquantile
