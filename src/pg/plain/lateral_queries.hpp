#pragma once

#include "pg/grants/refusal.hpp"
#include "pg/query/level.hpp"

// A derived table of public tables after LATERAL whose WHERE compares its columns with those of
// tables beside it, and that takes nothing else of them:
//
//   FROM visits v, LATERAL (SELECT name FROM clinics c WHERE c.id = v.clinic) d
//
// becomes one that shows what it compares, with the comparison in ON or WHERE of the level:
//
//   FROM visits v, (SELECT name, id FROM clinics c) d WHERE d.id = v.clinic
namespace dpquantile {

// Rewrites the first such derived table of the level. Returns whether there was one.
bool take_conditions_out_of_lateral(const Level* level);

// Refuses VALUES that take columns of a level with protected rows, LATERAL (VALUES ('cost',
// v.cost),
// ('tax', v.tax)), and says what to ask in their place.
void refuse_values_of_rows(const RefusedQuery& refused, const Level* level);

}  // namespace dpquantile
