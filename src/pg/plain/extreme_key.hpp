#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// min and max of keys, for nothing: of what is the same in all rows of a group this value, and of
// values without bounds, such as texts, the least and the greatest that their public list has. As
// for values with bounds (standard_aggregate.hpp) the latter says nothing of the rows, and a notice
// tells so.
namespace dpquantile {

// Adds to GROUP BY what min and max are asked of, where the keys fix it: the region of a clinic in
// GROUP BY c.name, if no two clinics have one name and two regions. That changes no group, and
// makes it a key.
void group_by_fixed_values(const PlainLevel* level);

// The answer of a call of min or max in a level whose rows have not been moved; null for other
// calls, for values with bounds, and without a list, or where one of it stands for all others.
Node* extreme_key(const PlainLevel* level, const Aggref* call);

}  // namespace dpquantile
