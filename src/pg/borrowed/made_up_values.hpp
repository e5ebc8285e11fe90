#pragma once

#include "pg/server/postgres.hpp"

extern "C" {
#include "nodes/primnodes.h"
}

// Values in the place of answers that are not there yet, for the trial of a query that is asked in
// stages (pg/staged), and for lists of keys that will be such answers (pg/plain). They are a
// function of their type.
namespace dpquantile {

// How many different ones a type has, as far as `most`; 0 if it has none here.
int count_made_up_values(Oid type, int most);

// That of a number from 0: another one for each number, as far as the type has so many. NULL if it
// has none.
Const* made_up_value(Oid type, int32 modifier, Oid collation, int number);

}  // namespace dpquantile
