#include "pg/vocabulary/total_documents.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "pg/server/numeric.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
}

namespace dpquantile::documents {

namespace {

constexpr Size kMostSteps = 1048576;

// How many bytes a character has between quotes.
Size escaped_bytes(char character) {
  constexpr unsigned char kFirstPrinted = 32;
  switch (character) {
    case '\b':
    case '\f':
    case '\n':
    case '\r':
    case '\t':
    case '"':
    case '\\':
      return 2;
    default:
      return static_cast<unsigned char>(character) < kFirstPrinted ? 6 : 1;  // \u0001
  }
}

// At least as many bytes as a key, or a value that is no container, has with its quotes and the
// comma after it.
Size scalar_bytes(const JsonbValue& value) {
  constexpr Size kAround = 4;
  constexpr Size kWord = 5;  // false
  switch (value.type) {
    case jbvString: {
      const std::string_view text(value.val.string.val, value.val.string.len);
      return std::transform_reduce(text.begin(), text.end(), kAround, std::plus(), escaped_bytes);
    }
    case jbvNumeric:
      return kAround + most_text_bytes(NumericGetDatum(value.val.numeric));
    default:
      return kAround + kWord;
  }
}

bool is_short_text(Jsonb* document, Size most) {
  Size bytes = 0;
  JsonbIterator* iterator = JsonbIteratorInit(&document->root);
  JsonbValue value;
  JsonbIteratorToken token;
  while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE) {
    const bool is_scalar = token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM;
    bytes += is_scalar ? scalar_bytes(value) : 2;
    if (bytes > most) return false;
  }
  return true;
}

Datum text_of_document(FunctionCallInfo fcinfo) {
  Jsonb* document = PG_GETARG_JSONB_P(0);
  const int size = static_cast<int>(VARSIZE(document));
  return PointerGetDatum(cstring_to_text(JsonbToCString(nullptr, &document->root, size)));
}

// ->> answers a string as it is, so that it is shorter than the document.
bool is_string(Jsonb* document) {
  JsonbValue value;
  return JsonbExtractScalar(&document->root, &value) && value.type == jbvString;
}

}  // namespace

Datum written_part(PGFunction part, PGFunction original, FunctionCallInfo fcinfo, unsigned texts) {
  const Size most = most_written_bytes(texts::text_bytes(fcinfo, 0));
  const Datum document = texts::value_of_texts(part, fcinfo, texts);
  if (fcinfo->isnull) return document;
  Jsonb* found = DatumGetJsonbP(document);
  if (!is_string(found) && !is_short_text(found, most)) return null_answer(fcinfo);
  return texts::text_of_texts(original, fcinfo, texts);
}

Datum written(FunctionCallInfo fcinfo) {
  const Size bytes = texts::text_bytes(fcinfo, 0);
  const bool is_short = bytes <= texts::kMostTextBytes &&
                        is_short_text(PG_GETARG_JSONB_P(0), most_written_bytes(bytes));
  return is_short ? texts::text_of_texts(text_of_document, fcinfo, texts::kFirst)
                  : null_answer(fcinfo);
}

bool is_short_search(FunctionCallInfo fcinfo) {
  const Size second = std::max<Size>(texts::text_bytes(fcinfo, 1), 1);
  return texts::text_bytes(fcinfo, 0) <= kMostSteps / second;
}

Datum numeric_of(FunctionCallInfo fcinfo) {
  const Datum number = texts::value_of_texts(jsonb_numeric, fcinfo, texts::kFirst);
  if (fcinfo->isnull || has_few_digits(number, kMostNumericDigits)) return number;
  return null_answer(fcinfo);
}

Datum number_of(PGFunction from_numeric, FunctionCallInfo fcinfo) {
  const Datum number = numeric_of(fcinfo);
  if (fcinfo->isnull) return number;
  LOCAL_FCINFO(call, 1);
  InitFunctionCallInfoData(*call, fcinfo->flinfo, 1, fcinfo->fncollation, nullptr, nullptr);
  call->args[0] = {number, false};
  const Datum answer = from_numeric(call);
  fcinfo->isnull = call->isnull;
  return answer;
}

}  // namespace dpquantile::documents
