#pragma once

#include <cstddef>

#include "pg/server/postgres.hpp"

extern "C" {
#include "utils/array.h"
}

// The arrays of a released histogram: bounds, and the counts between them.
namespace dpquantile {

// The elements of an array, palloc'd.
struct ArrayElements {
  Datum* values;
  int count;
};

// ereports unless the array, called `name` in the error, is one-dimensional and without NULL.
ArrayElements elements_of(ArrayType* array, const char* name);

// ereports unless there is one more bound than counts.
void require_one_count_a_bin(std::size_t bounds, std::size_t counts);

}  // namespace dpquantile
