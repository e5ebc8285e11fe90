#include "pg/server/collation.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

struct pg_locale_struct* pg_newlocale_from_collation(Oid collation);
}

namespace dpquantile {

namespace {

char provider_of_database() {
  const HeapTuple row = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
  if (!HeapTupleIsValid(row)) return COLLPROVIDER_ICU;  // which takes longest
  const char provider = reinterpret_cast<Form_pg_database>(GETSTRUCT(row))->datlocprovider;
  ReleaseSysCache(row);
  return provider;
}

char provider_of(Oid collation) {
  if (!OidIsValid(collation)) return COLLPROVIDER_LIBC;
  const HeapTuple row = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
  if (!HeapTupleIsValid(row)) return COLLPROVIDER_ICU;
  const char provider = reinterpret_cast<Form_pg_collation>(GETSTRUCT(row))->collprovider;
  ReleaseSysCache(row);
  return provider == COLLPROVIDER_DEFAULT ? provider_of_database() : provider;
}

// Whether two marks count in the order in which they are written. In ICU's order a cedilla comes
// before a macron, but its bytes after those: so if q with a cedilla and a macron is less than q
// with a macron and a cedilla, which Unicode takes for equal, nothing has put the marks into an
// order.
bool leaves_marks(Oid collation) {
  constexpr char kCedillaFirst[] = "q\xcc\xa7\xcc\x84";
  constexpr char kMacronFirst[] = "q\xcc\x84\xcc\xa7";
  constexpr int kBytes = sizeof kCedillaFirst - 1;
  return varstr_cmp(kCedillaFirst, kBytes, kMacronFirst, kBytes, collation) < 0;
}

}  // namespace

void open_collation(Oid collation) {
  (void)pg_newlocale_from_collation(collation);
}

bool is_of_unicode(Oid collation) {
  return provider_of(collation) != COLLPROVIDER_LIBC;
}

bool reorders_marks(Oid collation) {
  if (provider_of(collation) != COLLPROVIDER_ICU) return false;
  open_collation(collation);
  return GetDatabaseEncoding() != PG_UTF8 || !leaves_marks(collation);
}

}  // namespace dpquantile
