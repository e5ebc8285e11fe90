#pragma once

#include <memory_resource>
#include <span>

#include "core/cdf/cdf_encoding.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/value_type.hpp"

// The SQL type dp_cdf: a varlena with the bytes of encode_cdf(). Its content is public.
namespace dpquantile {

// Makes a value of the type in the given memory. Call it inside guarded(). Throws std::bad_alloc.
bytea* make_cdf_value(const CdfCurve& curve, ContextMemory& memory);

// The detoasted bytes of an argument of the type.
std::span<const std::byte> cdf_argument(FunctionCallInfo fcinfo, int number);

// Throws CorruptInput unless the curve is one of numbers, or of a type of dates and times with
// bounds and granularity that are numbers of it. Call it inside guarded().
void check_value_type(const CdfDomain& domain);

// The type of the values of an argument of the type, with kFloat8 for numbers. ereports if the
// bytes are not those of a dp_cdf.
ValueType value_type_of_cdf(FunctionCallInfo fcinfo, int number);

// Decodes an argument of the type and calls body(const CdfCurve&, std::pmr::memory_resource*)
// inside guarded(), with scratch memory that is freed afterwards. ereports if the bytes are not
// those of a dp_cdf, and what body throws.
template <class Body>
void with_cdf(FunctionCallInfo fcinfo, int number, Body body) {
  const std::span<const std::byte> bytes = cdf_argument(fcinfo, number);
  with_scratch([&](ContextMemory& memory) {
    const CdfCurve curve = decode_cdf(bytes, &memory);
    check_value_type(curve.domain());
    body(curve, &memory);
  });
}

// The noise plan of an argument of the type. ereports as with_cdf() does.
inline CdfPlan plan_argument(FunctionCallInfo fcinfo, int number) {
  CdfPlan plan{};
  with_cdf(fcinfo, number, [&](const CdfCurve& curve, auto*) { plan = curve.plan(); });
  return plan;
}

}  // namespace dpquantile
