#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

// The kinds of expressions that queries over protected relations may have.
namespace dpquantile {

// Where an expression is evaluated.
enum class Place {
  kInside,   // over protected rows: in a source, and below the aggregates of a release block
  kOutside,  // over answers, or without columns
};

struct NodeRule {
  NodeTag tag;
  const char* what;  // in an error: "a subquery"
  bool inside;
  bool outside;
  const char* reason;  // if it is refused somewhere: what it does that is refused
};

// Null if the kind is not in the table; then it is refused.
const NodeRule* find_node_rule(const Node* node);

// Whether the table allows the kind of expression there.
bool is_allowed_node(const Node* node, Place place);

}  // namespace dpquantile
