#pragma once

#include "pg/vocabulary/function_rule.hpp"

extern "C" {
#include "utils/fmgroids.h"
}

// The table of functions (function_rule.hpp): those that rows may not call, with a rule of their
// own outside. A function that is not listed may be called outside, too.
namespace dpquantile::functions {

// clang-format off
inline constexpr FunctionRule kTakingAnyType[] = {
    // They make no value from a text and look for no cast, whatever the types of their arguments are.
    // Functions of single values
    FunctionRule{F_COUNT_ANY}.outside().of_any_type(),
    FunctionRule{F_PG_TYPEOF}.outside().of_any_type(),
    FunctionRule{F_NUM_NULLS}.outside().of_any_type(),
    FunctionRule{F_NUM_NONNULLS}.outside().of_any_type(),
    FunctionRule{F_CONCAT}.outside().of_any_type(),
    FunctionRule{F_CONCAT_WS}.outside().of_any_type(),
    FunctionRule{F_FORMAT_TEXT_ANY}.outside().of_any_type(),
    FunctionRule{F_MODE}.outside().of_any_type(),
    FunctionRule{F_PERCENTILE_DISC_FLOAT8_ANYELEMENT}.outside().of_any_type(),
    FunctionRule{F_PERCENTILE_DISC__FLOAT8_ANYELEMENT}.outside().of_any_type(),
    // Functions of windows
    FunctionRule{F_FIRST_VALUE}.outside().of_any_type(),
    FunctionRule{F_LAST_VALUE}.outside().of_any_type(),
    FunctionRule{F_NTH_VALUE}.outside().of_any_type(),
    FunctionRule{F_LAG_ANYELEMENT}.outside().of_any_type(),
    FunctionRule{F_LAG_ANYELEMENT_INT4}.outside().of_any_type(),
    FunctionRule{F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE}.outside().of_any_type(),
    FunctionRule{F_LEAD_ANYELEMENT}.outside().of_any_type(),
    FunctionRule{F_LEAD_ANYELEMENT_INT4}.outside().of_any_type(),
    FunctionRule{F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE}.outside().of_any_type(),
    // Functions of arrays
    FunctionRule{F_ARRAY_AGG_ANYNONARRAY}.outside().of_any_type(),
    FunctionRule{F_ARRAY_AGG_ANYARRAY}.outside().of_any_type(),
    FunctionRule{F_ARRAY_APPEND}.outside().of_any_type(),
    FunctionRule{F_ARRAY_PREPEND}.outside().of_any_type(),
    FunctionRule{F_ARRAY_CAT}.outside().of_any_type(),
    FunctionRule{F_ARRAY_DIMS}.outside().of_any_type(),
    FunctionRule{F_ARRAY_NDIMS}.outside().of_any_type(),
    FunctionRule{F_ARRAY_LENGTH}.outside().of_any_type(),
    FunctionRule{F_ARRAY_LOWER}.outside().of_any_type(),
    FunctionRule{F_ARRAY_UPPER}.outside().of_any_type(),
    FunctionRule{F_CARDINALITY}.outside().of_any_type(),
    FunctionRule{F_ARRAY_EQ}.outside().of_any_type(),
    FunctionRule{F_ARRAY_NE}.outside().of_any_type(),
    FunctionRule{F_ARRAY_LT}.outside().of_any_type(),
    FunctionRule{F_ARRAY_LE}.outside().of_any_type(),
    FunctionRule{F_ARRAY_GT}.outside().of_any_type(),
    FunctionRule{F_ARRAY_GE}.outside().of_any_type(),
    FunctionRule{F_ARRAYCONTAINS}.outside().of_any_type(),
    FunctionRule{F_ARRAYCONTAINED}.outside().of_any_type(),
    FunctionRule{F_ARRAYOVERLAP}.outside().of_any_type(),
    FunctionRule{F_ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE}.outside().of_any_type(),
    FunctionRule{F_ARRAY_POSITION_ANYCOMPATIBLEARRAY_ANYCOMPATIBLE_INT4}.outside().of_any_type(),
    FunctionRule{F_ARRAY_POSITIONS}.outside().of_any_type(),
    FunctionRule{F_ARRAY_REMOVE}.outside().of_any_type(),
    FunctionRule{F_ARRAY_REPLACE}.outside().of_any_type(),
    FunctionRule{F_ARRAY_TO_STRING_ANYARRAY_TEXT}.outside().of_any_type(),
    FunctionRule{F_ARRAY_TO_STRING_ANYARRAY_TEXT_TEXT}.outside().of_any_type(),
    FunctionRule{F_GENERATE_SUBSCRIPTS_ANYARRAY_INT4}.outside().of_any_type(),
    FunctionRule{F_UNNEST_ANYARRAY}.outside().of_any_type(),
    FunctionRule{F_MAX_ANYARRAY}.outside().of_any_type(),
    FunctionRule{F_MIN_ANYARRAY}.outside().of_any_type(),
    // Functions of enums, beside their comparisons (functions_of_others.hpp)
    FunctionRule{F_ENUM_FIRST}.outside().of_any_type(),
    FunctionRule{F_ENUM_LAST}.outside().of_any_type(),
    FunctionRule{F_ENUM_RANGE_ANYENUM}.outside().of_any_type(),
    FunctionRule{F_ENUM_RANGE_ANYENUM_ANYENUM}.outside().of_any_type(),
    FunctionRule{F_MAX_ANYENUM}.outside().of_any_type(),
    FunctionRule{F_MIN_ANYENUM}.outside().of_any_type(),
    // Functions of ranges
    FunctionRule{F_RANGE_EQ}.outside().of_any_type(),
    FunctionRule{F_RANGE_NE}.outside().of_any_type(),
    FunctionRule{F_RANGE_OVERLAPS}.outside().of_any_type(),
    FunctionRule{F_RANGE_CONTAINS}.outside().of_any_type(),
    FunctionRule{F_RANGE_CONTAINS_ELEM}.outside().of_any_type(),
    FunctionRule{F_RANGE_CONTAINED_BY}.outside().of_any_type(),
    FunctionRule{F_ELEM_CONTAINED_BY_RANGE}.outside().of_any_type(),
    FunctionRule{F_LOWER_ANYRANGE}.outside().of_any_type(),
    FunctionRule{F_UPPER_ANYRANGE}.outside().of_any_type(),
    FunctionRule{F_ISEMPTY_ANYRANGE}.outside().of_any_type(),
    // Functions of rows
    FunctionRule{F_RECORD_EQ}.outside().of_any_type(),
    FunctionRule{F_RECORD_NE}.outside().of_any_type(),
    FunctionRule{F_RECORD_LT}.outside().of_any_type(),
    FunctionRule{F_RECORD_LE}.outside().of_any_type(),
    FunctionRule{F_RECORD_GT}.outside().of_any_type(),
    FunctionRule{F_RECORD_GE}.outside().of_any_type(),
};

inline constexpr FunctionRule kGivingRows[] = {
    // Protected rows may be joined with the rows of these.
    FunctionRule{F_GENERATE_SERIES_INT4_INT4}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_INT4_INT4_INT4}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_INT8_INT8}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_INT8_INT8_INT8}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_NUMERIC_NUMERIC}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_NUMERIC_NUMERIC_NUMERIC}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_TIMESTAMP_TIMESTAMP_INTERVAL}.outside().series(),
    FunctionRule{F_GENERATE_SERIES_TIMESTAMPTZ_TIMESTAMPTZ_INTERVAL}.outside().series(),
};

inline constexpr FunctionRule kNeverCalled[] = {
    // They run the functions of any view, type or function that they are asked for: they read it, make
    // a value of it, or make the constants in its body. Those that show a view or rule ask for it in
    // SQL, in which search_path may have an operator before PostgreSQL's.
    DPQ_SINCE_16(FunctionRule{F_PG_INPUT_IS_VALID}.never(),)
    DPQ_SINCE_16(FunctionRule{F_PG_INPUT_ERROR_INFO}.never(),)
    FunctionRule{F_FMGR_SQL_VALIDATOR}.never(),
    FunctionRule{F_FMGR_C_VALIDATOR}.never(),
    FunctionRule{F_FMGR_INTERNAL_VALIDATOR}.never(),
    FunctionRule{F_TABLE_TO_XML}.never(),
    FunctionRule{F_TABLE_TO_XMLSCHEMA}.never(),
    FunctionRule{F_TABLE_TO_XML_AND_XMLSCHEMA}.never(),
    FunctionRule{F_SCHEMA_TO_XML}.never(),
    FunctionRule{F_SCHEMA_TO_XMLSCHEMA}.never(),
    FunctionRule{F_SCHEMA_TO_XML_AND_XMLSCHEMA}.never(),
    FunctionRule{F_DATABASE_TO_XML}.never(),
    FunctionRule{F_DATABASE_TO_XMLSCHEMA}.never(),
    FunctionRule{F_DATABASE_TO_XML_AND_XMLSCHEMA}.never(),
    FunctionRule{F_PG_GET_VIEWDEF_TEXT}.never(),
    FunctionRule{F_PG_GET_VIEWDEF_OID}.never(),
    FunctionRule{F_PG_GET_VIEWDEF_TEXT_BOOL}.never(),
    FunctionRule{F_PG_GET_VIEWDEF_OID_BOOL}.never(),
    FunctionRule{F_PG_GET_VIEWDEF_OID_INT4}.never(),
    FunctionRule{F_PG_GET_RULEDEF_OID}.never(),
    FunctionRule{F_PG_GET_RULEDEF_OID_BOOL}.never(),
};
// clang-format on

}  // namespace dpquantile::functions
