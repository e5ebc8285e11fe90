#pragma once

#include "pg/parameters/family.hpp"
#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"
}

// A private aggregate is an aggregate whose final function is one of this library.
namespace dpquantile {

// A query level with private aggregates, while it is planned.
struct GroupingLevel {
  PlannerInfo* root;
  RelOptInfo* input;
  RelOptInfo* groups;
  List* having;
};

// The family of the aggregate that is called, or null if the aggregate is not private.
const FamilyRow* private_family(const Aggref* call);

// The same for any expression: null also if it is no call of an aggregate.
const FamilyRow* private_family(const Node* expression);

// Whether a condition is nothing but a call of dp_keep_group.
bool is_keep_group(const Node* condition);

// Whether a condition is or has a call of dp_keep_group.
bool has_keep_group(const Node* condition);

// Whether a query level calls a private aggregate.
bool has_private_calls(const PlannerInfo* root);

// The final function of an aggregate.
Oid final_function_of(const Aggref* call);

}  // namespace dpquantile
