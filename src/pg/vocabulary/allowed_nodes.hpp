#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/nodes.h"
}

// The kinds of expressions that queries over protected relations may have.
namespace dpquantile {

struct NodeRule {
  NodeTag tag;
  const char* what;  // in an error: "a subquery"
  bool inside;  // over protected rows: in a source, and below the aggregates of a release block
  const char* reason;  // why, or on which condition; in an error: what it does that is refused
};

// Null if the kind is not in the table; then it is refused.
const NodeRule* find_node_rule(const Node* node);

// Whether the table allows the kind over protected rows. Over answers, and without columns, it
// allows all that it has.
bool is_allowed_inside(const Node* node);

}  // namespace dpquantile
