#pragma once

#include "pg/protect/outside.hpp"

// The outer query of release blocks computes with their answers, which are private already, and may
// compute anything with them. Two things are left to forbid: it must not lock rows or change data,
// and it must run no code of other roles, which would run in the middle of a query that has the
// rights of a table's owner.
namespace dpquantile {

// Checks an outer query, or a query without protected relations: all its expressions and sort keys.
// Derived tables and CTEs are not looked at.
void check_outer_query(JudgedLevel* level);

}  // namespace dpquantile
