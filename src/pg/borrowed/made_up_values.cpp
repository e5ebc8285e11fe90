#include "pg/borrowed/made_up_values.hpp"

#include "pg/server/nodes.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace dpquantile {

namespace {

int count_labels(Oid type) {
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  const int count = labels->n_members;
  ReleaseSysCacheList(labels);
  return count;
}

const char* label_of(Oid type, int number) {
  CatCList* labels = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
  const char* label = nullptr;
  if (labels->n_members > 0) {
    auto* tuple = &labels->members[number % labels->n_members]->tuple;
    label = pstrdup(NameStr(reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple))->enumlabel));
  }
  ReleaseSysCacheList(labels);
  return label;
}

// The value as text; null if the type has none here.
const char* text_of(Oid type, int number) {
  if (type_is_enum(type)) return label_of(type, number);
  if (type >= FirstNormalObjectId) return nullptr;
  if (type == TIMEOID || type == TIMETZOID) {
    return psprintf("00:%02d:%02d", number / 60, number % 60);
  }
  if (type == UUIDOID) return psprintf("00000000-0000-0000-0000-%012d", number);
  char category;
  bool is_preferred;
  get_type_category_preferred(type, &category, &is_preferred);
  switch (category) {
    case TYPCATEGORY_NUMERIC:
      return psprintf("%d", number);
    case TYPCATEGORY_STRING:
      return psprintf("a%d", number);
    case TYPCATEGORY_DATETIME:
      return psprintf("%d-01-01", 2000 + number);
    case TYPCATEGORY_TIMESPAN:
      return psprintf("%d days", number);
    case TYPCATEGORY_BOOLEAN:
      return number % 2 == 0 ? "false" : "true";
    default:
      return nullptr;
  }
}

}  // namespace

int count_made_up_values(Oid type, int most) {
  if (type_is_enum(type)) return Min(count_labels(type), most);
  if (type == BOOLOID) return Min(2, most);
  return text_of(type, 0) == nullptr ? 0 : most;
}

Const* made_up_value(Oid type, int32 modifier, Oid collation, int number) {
  Const* made = makeNullConst(type, modifier, collation);
  const char* text = text_of(type, number);
  if (text == nullptr) return made;
  Oid input;
  Oid element;
  getTypeInputInfo(type, &input, &element);
  made->constvalue = OidInputFunctionCall(input, pstrdup(text), element, -1);
  made->constisnull = false;
  return made;
}

}  // namespace dpquantile
