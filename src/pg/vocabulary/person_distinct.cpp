#include <algorithm>
#include <bit>

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

using ShortForm = uint64;
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

ShortForm form_of_float(float8 value) {
  return std::bit_cast<ShortForm>(plain_float(value));
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

bool has_short_form(Oid type) {
  switch (type) {
    case NUMERICOID:
    case INTERVALOID:
    case TIMETZOID:
    case UUIDOID:
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case BYTEAOID:
      return false;
    default:
      return true;
  }
}

ShortForm short_form_of(Oid type, Datum value) {
  switch (type) {
    case FLOAT4OID:
      return form_of_float(DatumGetFloat4(value));
    case FLOAT8OID:
      return form_of_float(DatumGetFloat8(value));
    default:
      return static_cast<ShortForm>(whole_number_of(type, value));
  }
}

Form form_of(const PersonCallInfo* call, Datum value) {
  switch (call->type) {
    case NUMERICOID:
      return hash_of(call, DirectFunctionCall1(numeric_trim_scale, value));
    case INTERVALOID:
      return form_of_interval(DatumGetIntervalP(value));
    case TIMETZOID:
      return form_of_time(DatumGetTimeTzADTP(value));
    case UUIDOID:
      return form_of_bytes(DatumGetPointer(value), UUID_LEN);
    default:
      return hash_of(call, value);
  }
}

struct Nothing {};

template <class Kept>
using Forms = GrowingArray<Kept, Nothing>;

template <class Kept>
void leave_different(Forms<Kept>* forms) {
  std::sort(forms->begin(), forms->end());
  forms->count = std::unique(forms->begin(), forms->end()) - forms->begin();
}

// When there is no room, equal forms are left out. The room doubles unless half of it is free then,
// so that all sorts together take as long as a few.
template <class Kept>
void* add_form(const PersonCallInfo* call, void* kept, Kept form) {
  auto* forms = static_cast<Forms<Kept>*>(kept);
  if (forms == nullptr) {
    forms = grown(call->memory, forms);
  } else if (forms->count == forms->room) {
    leave_different(forms);
    if (forms->count > forms->room / 2) forms = grown(call->memory, forms);
  }
  forms->add(form);
  return forms;
}

void* add_value(FunctionCallInfo fcinfo, const PersonCallInfo* call, void* kept) {
  const Datum value = fcinfo->args[kBeforeValue].value;
  return has_short_form(call->type) ? add_form(call, kept, short_form_of(call->type, value))
                                    : add_form(call, kept, form_of(call, value));
}

template <class Kept>
int64 count_different(void* kept) {
  auto* forms = static_cast<Forms<Kept>*>(kept);
  leave_different(forms);
  return forms->count;
}

Datum number_of_values(FunctionCallInfo, const PersonCallInfo* call, void* kept) {
  return Int64GetDatum(has_short_form(call->type) ? count_different<ShortForm>(kept)
                                                  : count_different<Form>(kept));
}

}  // namespace

namespace persons {

const PersonVariant kDistinct = {add_value, number_of_values, has_form};

}  // namespace persons

}  // namespace dpquantile
