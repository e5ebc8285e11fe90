#pragma once

#include "pg/vocabulary/total_call.hpp"

// The variants of casts from text: what the input function of a type answers for the text, and NULL
// where it fails. The input functions compute with nothing but the text, so call_or_null() is safe
// for them.
namespace dpquantile::text_casts {

// read_text() if the first argument, a text, may stand for a value, else NULL.
Datum parsed(PGFunction read_text, FunctionCallInfo fcinfo);
Datum parsed_number(PGFunction read_text, FunctionCallInfo fcinfo);
Datum parsed_date(PGFunction read_text, FunctionCallInfo fcinfo);

// Calls the input function for the first argument, a text.
Datum call_input(PGFunction input, FunctionCallInfo fcinfo);

template <PGFunction kInput>
Datum read(FunctionCallInfo fcinfo) {
  return call_input(kInput, fcinfo);
}

// bool and uuid
template <PGFunction kInput>
Datum cast(FunctionCallInfo fcinfo) {
  return parsed(read<kInput>, fcinfo);
}

template <PGFunction kInput>
Datum cast_to_number(FunctionCallInfo fcinfo) {
  return parsed_number(read<kInput>, fcinfo);
}

Datum cast_to_numeric(FunctionCallInfo fcinfo);

// date and timestamp: of digits and what separates them. A word may be the name of a time zone.
// PostgreSQL would read the file of the zone and keep it for the session, which a later query could
// measure.
template <PGFunction kInput>
Datum cast_to_date(FunctionCallInfo fcinfo) {
  return parsed_date(read<kInput>, fcinfo);
}

}  // namespace dpquantile::text_casts
