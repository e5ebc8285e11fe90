#pragma once

#include "pg/plain/plain_level.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// min and max of keys, for nothing: of a key of GROUP BY the key itself, and of values without
// bounds, such as texts, the least and the greatest that their public list has. As for values with
// bounds (standard_aggregate.hpp) the latter says nothing of the rows, and a notice tells so.
namespace dpquantile {

// The answer of a call of min or max in a level whose rows have not been moved; null for other
// calls, for values with bounds, and without a list, or where one of it stands for all others.
Node* extreme_key(const PlainLevel* level, const Aggref* call);

}  // namespace dpquantile
