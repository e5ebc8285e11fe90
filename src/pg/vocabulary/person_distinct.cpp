#include <algorithm>

#include "pg/vocabulary/person_variant.hpp"
#include "pg/vocabulary/total_call.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

// count(DISTINCT value) of one person's values, without a sort of rows. Two values are equal if and
// only if PostgreSQL's = says so: each has a form of 128 bits, which two different values have with
// a probability of 2^-128 if they are longer.
namespace dpquantile {

namespace {

using Form = SipHash128;

bool has_form(Oid type) {
  switch (type) {
    case BOOLOID:
    case CHAROID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case OIDOID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case DATEOID:
    case TIMEOID:
    case TIMETZOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INTERVALOID:
    case UUIDOID:
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case BYTEAOID:
      return true;
    default:
      return type_is_enum(type);
  }
}

Form form_of_bytes(const void* bytes, Size count) {
  Form form{0, 0};
  memcpy(&form, bytes, count);
  return form;
}

Form form_of_float(float8 value) {
  const float8 plain = plain_float(value);
  return form_of_bytes(&plain, sizeof plain);
}

// A month counts as 30 days, and a day as 24 hours.
Form form_of_interval(const Interval* value) {
  int64 days = static_cast<int64>(value->month) * DAYS_PER_MONTH + value->day;
  int64 microseconds = value->time % USECS_PER_DAY;
  days += value->time / USECS_PER_DAY;
  if (microseconds < 0) {
    microseconds += USECS_PER_DAY;
    --days;
  }
  return {static_cast<uint64>(days), static_cast<uint64>(microseconds)};
}

Form form_of_time(const TimeTzADT* value) {
  return {static_cast<uint64>(value->time), static_cast<uint32>(value->zone)};
}

// Trailing blanks of char(n) do not count.
Size length_without_blanks(const char* text, Size length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

Form hash_of(const PersonCallInfo* call, Datum value) {
  auto* plain = PG_DETOAST_DATUM_PACKED(value);
  const char* bytes = VARDATA_ANY(plain);
  Size length = VARSIZE_ANY_EXHDR(plain);
  if (call->type == BPCHAROID) length = length_without_blanks(bytes, length);
  return sip_hash_128(call->key, {reinterpret_cast<const uint8*>(bytes), length});
}

Form form_of(const PersonCallInfo* call, Datum value) {
  switch (call->type) {
    case FLOAT4OID:
      return form_of_float(DatumGetFloat4(value));
    case FLOAT8OID:
      return form_of_float(DatumGetFloat8(value));
    case NUMERICOID:
      return hash_of(call, DirectFunctionCall1(numeric_trim_scale, value));
    case INTERVALOID:
      return form_of_interval(DatumGetIntervalP(value));
    case TIMETZOID:
      return form_of_time(DatumGetTimeTzADTP(value));
    case UUIDOID:
      return form_of_bytes(DatumGetPointer(value), UUID_LEN);
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case BYTEAOID:
      return hash_of(call, value);
    default:
      return {static_cast<uint64>(whole_number_of(call->type, value)), 0};
  }
}

void leave_different(GrowingArray<Form>& forms) {
  std::ranges::sort(forms);
  forms.count = std::unique(forms.begin(), forms.end()) - forms.begin();
}

// When there is no room, equal forms are left out. The room doubles unless half of it is free then,
// so that all sorts together take as long as a few.
void* add_form(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  auto* forms = kept_or_empty<GrowingArray<Form>>(call, kept);
  const Form form = form_of(call, fcinfo->args[kBeforeValue].value);
  if (forms->count == forms->room) {
    leave_different(*forms);
    if (forms->count > forms->room / 2) forms->grow(call->memory);
  }
  forms->add(call->memory, form);
  return forms;
}

Datum count_different(FunctionCallInfo, const PersonCallInfo*, void* kept) {
  auto* forms = static_cast<GrowingArray<Form>*>(kept);
  leave_different(*forms);
  return Int64GetDatum(forms->count);
}

}  // namespace

namespace persons {

const PersonVariant kDistinct = {add_form, count_different, has_form};

}  // namespace persons

}  // namespace dpquantile
