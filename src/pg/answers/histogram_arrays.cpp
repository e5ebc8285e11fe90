#include "pg/answers/histogram_arrays.hpp"

extern "C" {
#include "utils/lsyscache.h"
}

namespace dpquantile {

ArrayElements elements_of(ArrayType* array, const char* name) {
  if (ARR_NDIM(array) > 1 || array_contains_nulls(array)) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s must be a one-dimensional array without NULL", name),
                    errhint("Give the bounds of dp_histogram and the counts that it answered.")));
  }
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  ArrayElements elements;
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &elements.values,
                    nullptr, &elements.count);
  return elements;
}

void require_one_count_a_bin(std::size_t bounds, std::size_t counts) {
  if (counts + 1 == bounds) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("there must be one more bound than counts, got %zu bounds and %zu counts",
                         bounds, counts),
                  errhint("Give the bounds of dp_histogram and the counts that it answered.")));
}

}  // namespace dpquantile
