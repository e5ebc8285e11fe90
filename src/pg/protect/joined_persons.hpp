#pragma once

#include "pg/grants/reference.hpp"
#include "pg/query/level.hpp"

// Queries that join a table that is protected through another one with that one themselves: FROM
// lines l JOIN orders o ON o.id = l.order_id. They need no second join that reads the persons.
namespace dpquantile {

// Whether FROM joins the rows of an entry with those that they refer to, in a join by which they
// get the persons of these, and with no other protected rows before. Where this says so by
// mistake, the rules refuse the query.
bool has_joined_persons(const Level* level, int number, const Reference& reference);

}  // namespace dpquantile
