#pragma once

#include "pg/protect/judged_level.hpp"

// Expressions outside: over answers and public values, and without columns. They may fail and may
// take long, since all they see is public. But no code of other roles runs there: it would see
// nothing secret itself, but it could change settings or look at PostgreSQL's state in the middle
// of a query that has the rights of the tables' owners.
namespace dpquantile {

// ereports unless an expression of the level, or a part of its query, has only nodes and functions
// that are allowed outside. Calls `check` for subqueries; null refuses them.
void check_outside(JudgedLevel* level, Node* expression, SubqueryCheck check);

// The same for one node without those in it. Not for a subquery.
void check_node_outside(JudgedLevel* level, Node* node);

// Counts a node of the statement, or several that it stands for. ereports if there are too many.
void count_node(JudgedStatement* statement, const Node* node, int weight = 1);

// Refuses a node whose kind the table does not allow.
[[noreturn]] void refuse_node(const JudgedLevel* level, const Node* node);

}  // namespace dpquantile
