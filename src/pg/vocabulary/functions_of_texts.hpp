#pragma once

#include "pg/vocabulary/function_rule.hpp"
#include "pg/vocabulary/total_numerics.hpp"
#include "pg/vocabulary/total_text_casts.hpp"
#include "pg/vocabulary/total_texts.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
}

// The table of functions (function_rule.hpp): texts, names and bytes, casts from and to text.
namespace dpquantile::functions {

using enum CallTime;
using enum AnswerSize;

// clang-format off
inline constexpr FunctionRule kOfTexts[] = {
    // As they are. Comparisons, which end with the shorter text, and the larger or smaller of two
    {F_CHAREQ},
    {F_CHARNE},
    {F_CHARLT},
    {F_CHARLE},
    {F_CHARGE},
    {F_CHARGT},
    {F_BTCHARCMP},
    {F_NAMEEQ},
    {F_NAMENE},
    {F_NAMELT},
    {F_NAMELE},
    {F_NAMEGE},
    {F_NAMEGT},
    {F_BTNAMECMP},
    {F_NAMEEQTEXT},
    {F_NAMENETEXT},
    {F_NAMELTTEXT},
    {F_NAMELETEXT},
    {F_NAMEGETEXT},
    {F_NAMEGTTEXT},
    {F_BTNAMETEXTCMP},
    {F_TEXTEQNAME},
    {F_TEXTNENAME},
    {F_TEXTLTNAME},
    {F_TEXTLENAME},
    {F_TEXTGENAME},
    {F_TEXTGTNAME},
    {F_BTTEXTNAMECMP},
    FunctionRule{F_TEXTEQ}.taking(kEqualLength),
    FunctionRule{F_TEXTNE}.taking(kEqualLength),
    {F_TEXT_LT},
    {F_TEXT_LE},
    {F_TEXT_GE},
    {F_TEXT_GT},
    {F_BTTEXTCMP},
    {F_TEXT_LARGER},
    {F_TEXT_SMALLER},
    {F_TEXT_PATTERN_LT},
    {F_TEXT_PATTERN_LE},
    {F_TEXT_PATTERN_GE},
    {F_TEXT_PATTERN_GT},
    {F_BTTEXT_PATTERN_CMP},
    FunctionRule{F_BPCHAREQ}.taking(kEquality),
    FunctionRule{F_BPCHARNE}.taking(kEquality),
    {F_BPCHARLT},
    {F_BPCHARLE},
    {F_BPCHARGE},
    {F_BPCHARGT},
    {F_BPCHAR_LARGER},
    {F_BPCHAR_SMALLER},
    {F_BPCHARCMP},
    {F_BPCHAR_PATTERN_LT},
    {F_BPCHAR_PATTERN_LE},
    {F_BPCHAR_PATTERN_GE},
    {F_BPCHAR_PATTERN_GT},
    {F_BTBPCHAR_PATTERN_CMP},
    FunctionRule{F_BYTEAEQ}.taking(kEqualLength),
    FunctionRule{F_BYTEANE}.taking(kEqualLength),
    {F_BYTEALT},
    {F_BYTEALE},
    {F_BYTEAGE},
    {F_BYTEAGT},
    {F_BYTEACMP},
    // As they are: a length in bytes, or a copy
    FunctionRule{F_OCTET_LENGTH_TEXT}.taking(kLength),
    FunctionRule{F_OCTET_LENGTH_BPCHAR}.taking(kLength),
    FunctionRule{F_OCTET_LENGTH_BYTEA}.taking(kLength),
    FunctionRule{F_LENGTH_BYTEA}.taking(kLength),
    {F_TEXT_NAME},
    {F_BPCHAR_NAME},
    {F_VARCHAR_NAME},
    {F_NAME_TEXT},
    {F_NAME_VARCHAR},
    {F_NAME_BPCHAR},
    // As they are, in PostgreSQL 18
    DPQ_SINCE_18({F_BYTEA_LARGER},)
    DPQ_SINCE_18({F_BYTEA_SMALLER},)
    DPQ_SINCE_18({F_BYTEA_INT2},)
    DPQ_SINCE_18({F_BYTEA_INT4},)
    DPQ_SINCE_18({F_BYTEA_INT8},)
    // NULL: a long text, or an argument out of range
    {F_TEXTCAT, texts::text_of<textcat, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kCopy, kSum},
    {F_BYTEACAT, texts::text_of<byteacat, texts::kFirst | texts::kSecond>, BYTEAOID, {BYTEAOID, BYTEAOID}, kCopy, kSum},
    {F_LOWER_TEXT, texts::text_of<lower, texts::kFirst>, TEXTOID, {TEXTOID}, kCase, kOtherCase},
    {F_UPPER_TEXT, texts::text_of<upper, texts::kFirst>, TEXTOID, {TEXTOID}, kCase, kOtherCase},
    {F_INITCAP, texts::text_of<initcap, texts::kFirst>, TEXTOID, {TEXTOID}, kWords, kOtherCase},
    {F_LEFT, texts::text_of<text_left, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kCharacters},
    {F_RIGHT, texts::text_of<text_right, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kCharacters},
    {F_SUBSTR_TEXT_INT4, texts::text_of<text_substr_no_len, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kSubstring},
    {F_SUBSTR_TEXT_INT4_INT4, texts::text_of<text_substr, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID, INT4OID}, kOrdinary, kSubstring},
    {F_SUBSTRING_TEXT_INT4, texts::text_of<text_substr_no_len, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kSubstring},
    {F_SUBSTRING_TEXT_INT4_INT4, texts::text_of<text_substr, texts::kFirst>, TEXTOID, {TEXTOID, INT4OID, INT4OID}, kOrdinary, kSubstring},
    {F_OVERLAY_TEXT_TEXT_INT4, texts::text_of<textoverlay_no_len, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID, INT4OID}, kOrdinary, kSum},
    {F_OVERLAY_TEXT_TEXT_INT4_INT4, texts::text_of<textoverlay, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID, INT4OID, INT4OID}, kOrdinary, kSum},
    {DPQ_F_REVERSE, texts::text_of<text_reverse, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_REPEAT, texts::repeated, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kRepeated},
    {F_LPAD_TEXT_INT4, texts::filled_with_spaces<lpad>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kFilled},
    {F_LPAD_TEXT_INT4_TEXT, texts::filled<lpad>, TEXTOID, {TEXTOID, INT4OID, TEXTOID}, kOrdinary, kFilled},
    {F_RPAD_TEXT_INT4, texts::filled_with_spaces<rpad>, TEXTOID, {TEXTOID, INT4OID}, kOrdinary, kFilled},
    {F_RPAD_TEXT_INT4_TEXT, texts::filled<rpad>, TEXTOID, {TEXTOID, INT4OID, TEXTOID}, kOrdinary, kFilled},
    {F_TEXT_BPCHAR, texts::text_of<rtrim1, texts::kFirst>, TEXTOID, {BPCHAROID}, kOrdinary, kAsFirst},
    {F_BTRIM_TEXT, texts::text_of<btrim1, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_LTRIM_TEXT, texts::text_of<ltrim1, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_RTRIM_TEXT, texts::text_of<rtrim1, texts::kFirst>, TEXTOID, {TEXTOID}, kOrdinary, kAsFirst},
    {F_TEXTLEN, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_LENGTH_TEXT, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_CHAR_LENGTH_TEXT, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_CHARACTER_LENGTH_TEXT, texts::value_of<textlen, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_LENGTH_BPCHAR, texts::value_of<bpcharlen, texts::kFirst>, INT4OID, {BPCHAROID}},
    {F_CHAR_LENGTH_BPCHAR, texts::value_of<bpcharlen, texts::kFirst>, INT4OID, {BPCHAROID}},
    {F_CHARACTER_LENGTH_BPCHAR, texts::value_of<bpcharlen, texts::kFirst>, INT4OID, {BPCHAROID}},
    {F_ASCII, texts::value_of<ascii, texts::kFirst>, INT4OID, {TEXTOID}},
    {F_CHR, texts::text_of<chr, 0>, TEXTOID, {INT4OID}, kOrdinary, kShort},
    {F_VARCHAR_VARCHAR_INT4_BOOL, texts::text_of<varchar, texts::kFirst>, VARCHAROID, {VARCHAROID, INT4OID, BOOLOID}, kOrdinary, kAsFirst},
    {F_BPCHAR_BPCHAR_INT4_BOOL, texts::padded, BPCHAROID, {BPCHAROID, INT4OID, BOOLOID}, kOrdinary, kFilled},
    // NULL: a long search
    {F_STARTS_WITH, texts::value_of<text_starts_with, texts::kFirst | texts::kSecond>, BOOLOID, {TEXTOID, TEXTOID}},
    {F_STRPOS, texts::found<textpos>, INT4OID, {TEXTOID, TEXTOID}, kSearch},
    {F_POSITION_TEXT_TEXT, texts::found<textpos>, INT4OID, {TEXTOID, TEXTOID}, kSearch},
    {F_REPLACE, texts::replaced, TEXTOID, {TEXTOID, TEXTOID, TEXTOID}, kSearch, kReplaced},
    {F_TRANSLATE, texts::translated, TEXTOID, {TEXTOID, TEXTOID, TEXTOID}, kListSearch, kTranslated},
    {F_SPLIT_PART, texts::found_text<split_part, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID, INT4OID}, kSearch, kAsFirst},
    {F_BTRIM_TEXT_TEXT, texts::found_text<btrim, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kSetSearch, kAsFirst},
    {F_LTRIM_TEXT_TEXT, texts::found_text<ltrim, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kSetSearch, kAsFirst},
    {F_RTRIM_TEXT_TEXT, texts::found_text<rtrim, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kSetSearch, kAsFirst},
    // NULL: a pattern that ends in its escape character, or a long search
    {F_TEXTLIKE, texts::matched<textlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_TEXTNLIKE, texts::matched<textnlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_LIKE_TEXT_TEXT, texts::matched<textlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_NOTLIKE_TEXT_TEXT, texts::matched<textnlike>, BOOLOID, {TEXTOID, TEXTOID}, kSearch},
    {F_BPCHARLIKE, texts::matched<textlike>, BOOLOID, {BPCHAROID, TEXTOID}, kSearch},
    {F_BPCHARNLIKE, texts::matched<textnlike>, BOOLOID, {BPCHAROID, TEXTOID}, kSearch},
    {F_NAMELIKE, texts::matched_name<namelike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_NAMENLIKE, texts::matched_name<namenlike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_LIKE_NAME_TEXT, texts::matched_name<namelike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_NOTLIKE_NAME_TEXT, texts::matched_name<namenlike>, BOOLOID, {NAMEOID, TEXTOID}, kSearch},
    {F_BYTEALIKE, texts::matched<bytealike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_BYTEANLIKE, texts::matched<byteanlike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_LIKE_BYTEA_BYTEA, texts::matched<bytealike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_NOTLIKE_BYTEA_BYTEA, texts::matched<byteanlike>, BOOLOID, {BYTEAOID, BYTEAOID}, kSearch},
    {F_TEXTICLIKE, texts::matched<texticlike>, BOOLOID, {TEXTOID, TEXTOID}, kCaseBlindSearch},
    {F_TEXTICNLIKE, texts::matched<texticnlike>, BOOLOID, {TEXTOID, TEXTOID}, kCaseBlindSearch},
    {F_BPCHARICLIKE, texts::matched<texticlike>, BOOLOID, {BPCHAROID, TEXTOID}, kCaseBlindSearch},
    {F_BPCHARICNLIKE, texts::matched<texticnlike>, BOOLOID, {BPCHAROID, TEXTOID}, kCaseBlindSearch},
    {F_NAMEICLIKE, texts::matched_name<nameiclike>, BOOLOID, {NAMEOID, TEXTOID}, kCaseBlindSearch},
    {F_NAMEICNLIKE, texts::matched_name<nameicnlike>, BOOLOID, {NAMEOID, TEXTOID}, kCaseBlindSearch},
    {F_LIKE_ESCAPE_TEXT_TEXT, texts::text_of<like_escape, texts::kFirst | texts::kSecond>, TEXTOID, {TEXTOID, TEXTOID}, kOrdinary, kEscaped},
    {F_LIKE_ESCAPE_BYTEA_BYTEA, texts::text_of<like_escape_bytea, texts::kFirst | texts::kSecond>, BYTEAOID, {BYTEAOID, BYTEAOID}, kOrdinary, kEscaped},
    // NULL: a pattern that is not supported (regex_weight.hpp), or a long text
    FunctionRule{F_TEXTREGEXEQ, texts::matched_regex<textregexeq>, BOOLOID, {TEXTOID, TEXTOID}, kRegex}.with_public(kArgument1),
    FunctionRule{F_TEXTREGEXNE, texts::matched_regex<textregexne>, BOOLOID, {TEXTOID, TEXTOID}, kRegex}.with_public(kArgument1),
    FunctionRule{F_TEXTICREGEXEQ, texts::matched_regex<texticregexeq>, BOOLOID, {TEXTOID, TEXTOID}, kRegex}.with_public(kArgument1),
    FunctionRule{F_TEXTICREGEXNE, texts::matched_regex<texticregexne>, BOOLOID, {TEXTOID, TEXTOID}, kRegex}.with_public(kArgument1),
    // NULL: a server without MD5, or a long text
    {F_MD5_TEXT, texts::md5_of, TEXTOID, {TEXTOID}, kOrdinary, kShort},
    {F_MD5_BYTEA, texts::md5_of, TEXTOID, {BYTEAOID}, kOrdinary, kShort},
    // NULL: a wrong format, or a long text
    FunctionRule{F_TO_CHAR_INT4_TEXT, texts::text_of<int4_to_char, texts::kSecond>, TEXTOID, {INT4OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_INT8_TEXT, texts::text_of<int8_to_char, texts::kSecond>, TEXTOID, {INT8OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_FLOAT4_TEXT, texts::text_of<float4_to_char, texts::kSecond>, TEXTOID, {FLOAT4OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_FLOAT8_TEXT, texts::text_of<float8_to_char, texts::kSecond>, TEXTOID, {FLOAT8OID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_NUMERIC_TEXT, numerics::formatted, TEXTOID, {NUMERICOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_TIMESTAMP_TEXT, texts::text_of<timestamp_to_char, texts::kSecond>, TEXTOID, {TIMESTAMPOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_TIMESTAMPTZ_TEXT, texts::text_of<timestamptz_to_char, texts::kSecond>, TEXTOID, {TIMESTAMPTZOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
    FunctionRule{F_TO_CHAR_INTERVAL_TEXT, texts::text_of<interval_to_char, texts::kSecond>, TEXTOID, {INTERVALOID, TEXTOID}, kFormat, kFormatted}.with_public(kArgument1).stable(),
};

inline constexpr FunctionRule kCastsFromText[] = {
    // NULL: a text that stands for no value
    FunctionRule{F_BOOLIN, text_casts::cast<boolin>, BOOLOID, {TEXTOID}}.from_text(),
    FunctionRule{F_INT2IN, text_casts::cast_to_number<int2in>, INT2OID, {TEXTOID}}.from_text(),
    FunctionRule{F_INT4IN, text_casts::cast_to_number<int4in>, INT4OID, {TEXTOID}}.from_text(),
    FunctionRule{F_INT8IN, text_casts::cast_to_number<int8in>, INT8OID, {TEXTOID}}.from_text(),
    FunctionRule{F_FLOAT4IN, text_casts::cast_to_number<float4in>, FLOAT4OID, {TEXTOID}}.from_text(),
    FunctionRule{F_FLOAT8IN, text_casts::cast_to_number<float8in>, FLOAT8OID, {TEXTOID}}.from_text(),
    FunctionRule{F_NUMERIC_IN, text_casts::cast_to_numeric, NUMERICOID, {TEXTOID}}.from_text(),
    FunctionRule{F_UUID_IN, text_casts::cast<uuid_in>, UUIDOID, {TEXTOID}}.from_text(),
    FunctionRule{F_DATE_IN, text_casts::cast_to_date<date_in>, DATEOID, {TEXTOID}}.stable().from_text(),
    FunctionRule{F_TIMESTAMP_IN, text_casts::cast_to_date<timestamp_in>, TIMESTAMPOID, {TEXTOID}}.stable().from_text(),
};

// Output functions. Those of the types of texts are not called.
inline constexpr FunctionRule kCastsToText[] = {
    FunctionRule{F_BOOLOUT}.to_text(),
    FunctionRule{F_NAMEOUT}.to_text(),
    FunctionRule{F_INT2OUT}.to_text(),
    FunctionRule{F_INT4OUT}.to_text(),
    FunctionRule{F_INT8OUT}.to_text(),
    FunctionRule{F_OIDOUT}.to_text(),
    FunctionRule{F_FLOAT4OUT}.to_text(),
    FunctionRule{F_FLOAT8OUT}.to_text(),
    FunctionRule{F_NUMERIC_OUT}.to_text(),
    FunctionRule{F_DATE_OUT}.to_text(),
    FunctionRule{F_TIME_OUT}.to_text(),
    FunctionRule{F_TIMETZ_OUT}.to_text(),
    FunctionRule{F_TIMESTAMP_OUT}.to_text(),
    FunctionRule{F_TIMESTAMPTZ_OUT}.to_text(),
    FunctionRule{F_INTERVAL_OUT}.to_text(),
    FunctionRule{F_UUID_OUT}.to_text(),
    FunctionRule{F_ENUM_OUT}.to_text(),
};
// clang-format on

}  // namespace dpquantile::functions
