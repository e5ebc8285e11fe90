#include "pg/server/array_constant.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

Node* array_constant(Datum* elements, int count, Oid type, Oid collation) {
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  const ArrayType* array = construct_array(elements, count, type, length, by_value, alignment);
  return as<Node>(
      makeConst(get_array_type(type), -1, collation, -1, PointerGetDatum(array), false, false));
}

List* elements_of_array(const Const* array) {
  const Oid type = get_element_type(array->consttype);
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  Datum* values;
  bool* nulls;
  int count;
  deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, length, by_value, alignment,
                    &values, &nulls, &count);
  List* elements = NIL;
  for (int i = 0; i < count; ++i) {
    elements = lappend(
        elements, makeConst(type, -1, array->constcollid, length, values[i], nulls[i], by_value));
  }
  return elements;
}

}  // namespace dpquantile
