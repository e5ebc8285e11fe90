#pragma once

#include "pg/vocabulary/function_rule.hpp"
#include "pg/vocabulary/total_documents.hpp"
#include "pg/vocabulary/total_numerics.hpp"

extern "C" {
#include "catalog/pg_type_d.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
}

// The table of functions (function_rule.hpp): parts of jsonb, and what is in it.
namespace dpquantile::functions {

using enum CallTime;
using enum AnswerSize;

// clang-format off
inline constexpr FunctionRule kOfDocuments[] = {
    // NULL: a long document or path
    {F_JSONB_OBJECT_FIELD, texts::text_of<jsonb_object_field, texts::kFirst | texts::kSecond>, JSONBOID, {JSONBOID, TEXTOID}, kPart, kAsFirst},
    {F_JSONB_ARRAY_ELEMENT, texts::text_of<jsonb_array_element, texts::kFirst>, JSONBOID, {JSONBOID, INT4OID}, kPart, kAsFirst},
    {F_JSONB_EXTRACT_PATH, texts::text_of<jsonb_extract_path, texts::kFirst | texts::kSecond>, JSONBOID, {JSONBOID, TEXTARRAYOID}, kPart, kAsFirst},
    {F_JSONB_EXISTS, texts::value_of<jsonb_exists, texts::kFirst | texts::kSecond>, BOOLOID, {JSONBOID, TEXTOID}, kPart},
    {F_JSONB_TYPEOF, texts::text_of<jsonb_typeof, texts::kFirst>, TEXTOID, {JSONBOID}, kPart, kShort},
    // NULL: no array
    {F_JSONB_ARRAY_LENGTH, texts::value_of<jsonb_array_length, texts::kFirst>, INT4OID, {JSONBOID}, kPart},
    // NULL: a text that is far longer than the document
    {F_JSONB_OBJECT_FIELD_TEXT, documents::text_of_part<jsonb_object_field, jsonb_object_field_text, texts::kFirst | texts::kSecond>, TEXTOID, {JSONBOID, TEXTOID}, kWriting, kWritten},
    {F_JSONB_ARRAY_ELEMENT_TEXT, documents::text_of_part<jsonb_array_element, jsonb_array_element_text, texts::kFirst>, TEXTOID, {JSONBOID, INT4OID}, kWriting, kWritten},
    {F_JSONB_EXTRACT_PATH_TEXT, documents::text_of_part<jsonb_extract_path, jsonb_extract_path_text, texts::kFirst | texts::kSecond>, TEXTOID, {JSONBOID, TEXTARRAYOID}, kWriting, kWritten},
    FunctionRule{F_JSONB_OUT, documents::written, TEXTOID, {JSONBOID}, kWriting, kWritten}.to_text(),
    // NULL: a long search
    {F_JSONB_EXISTS_ANY, documents::searched<jsonb_exists_any>, BOOLOID, {JSONBOID, TEXTARRAYOID}, kKeySearch},
    {F_JSONB_EXISTS_ALL, documents::searched<jsonb_exists_all>, BOOLOID, {JSONBOID, TEXTARRAYOID}, kKeySearch},
    {F_JSONB_CONTAINS, documents::searched<jsonb_contains>, BOOLOID, {JSONBOID, JSONBOID}, kDocumentSearch},
    {F_JSONB_CONTAINED, documents::searched<jsonb_contained>, BOOLOID, {JSONBOID, JSONBOID}, kDocumentSearch},
    // NULL: no value of this type
    {F_BOOL_JSONB, texts::value_of<jsonb_bool, texts::kFirst>, BOOLOID, {JSONBOID}, kPart},
    {F_NUMERIC_JSONB, documents::numeric_of, NUMERICOID, {JSONBOID}, kPart},
    {F_INT2_JSONB, documents::cast_to_number<numerics::int2_of>, INT2OID, {JSONBOID}, kPart},
    {F_INT4_JSONB, documents::cast_to_number<numerics::int4_of>, INT4OID, {JSONBOID}, kPart},
    {F_INT8_JSONB, documents::cast_to_number<numerics::int8_of>, INT8OID, {JSONBOID}, kPart},
    {F_FLOAT4_JSONB, documents::cast_to_number<numerics::float4_of>, FLOAT4OID, {JSONBOID}, kPart},
    {F_FLOAT8_JSONB, documents::cast_to_number<numerics::float8_of>, FLOAT8OID, {JSONBOID}, kPart},
};
// clang-format on

}  // namespace dpquantile::functions
