#include "pg/parameters/read_parameters.hpp"

#include <cmath>

#include "core/privacy/privacy_parameter.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "pg/parameters/parameter_checks.hpp"
#include "pg/server/boundary.hpp"
#include "pg/server/decimal.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
}

namespace dpquantile {

namespace {

constexpr double kMedian = 0.5;
constexpr const char* kPublicBoundsHint =
    "Choose bounds from what is publicly known about the values.";

[[noreturn]] void refuse_null(const char* name) {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name),
                  errhint("Give a value. NULL does not stand for a default.")));
}

[[noreturn]] void refuse_null_epsilon() {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("epsilon must not be NULL"),
                  errhint("Give a value. Epsilon may be NULL only with option rho, for example "
                          "dp_options(rho => 0.01).")));
}

[[noreturn]] void refuse_epsilon_with_rho(double epsilon) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("epsilon must be NULL with option \"rho\", got %g", epsilon),
           errhint("Give one of the two: write NULL for epsilon, or leave the option out.")));
}

// Read as another type, it would be another number, or an address.
ValueType type_of_bound(Oid type) {
  if (const auto found = find_value_type(type)) return *found;
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("bounds cannot be of type %s", format_type_be(type)),
                  errhint("They are numbers, dates, timestamps, times or intervals.")));
}

// Reads a call's arguments one after the other.
class ArgumentReader {
 public:
  explicit ArgumentReader(const CallArguments& arguments) : arguments_(arguments) {}

  // The number of unread arguments, without the options.
  int remaining() const { return arguments_.count - next_ - (has_options() ? 1 : 0); }
  bool next_is(Oid type) const { return arguments_.types[next_] == type; }

  Datum required(const char* name) {
    const NullableDatum& argument = arguments_.values[next_++];
    if (argument.isnull) refuse_null(name);
    return argument.value;
  }
  // A bound: a value of one of the types that aggregates take.
  double bound(Argument argument) {
    const Oid type = arguments_.types[next_];
    const Datum value = required(name_of(argument));
    return number_of_value(type_of_bound(type), value);
  }
  double amount(Argument argument) {
    return stated_amount(DatumGetFloat8(required(name_of(argument))));
  }
  int64 whole(Argument argument) { return DatumGetInt64(required(name_of(argument))); }

  // The guarantee: either the argument epsilon or the option rho states it.
  PrivacyParameter privacy(const FamilyRow& family, const std::optional<double>& rho) {
    if (family.takes(kRhoOption)) {
      const NullableDatum& epsilon = arguments_.values[next_];
      if (!rho && epsilon.isnull) refuse_null_epsilon();
      if (rho && !epsilon.isnull) refuse_epsilon_with_rho(DatumGetFloat8(epsilon.value));
      if (rho) {
        ++next_;
        return zcdp(stated_amount(*rho));
      }
    }
    return pure(amount(Argument::kEpsilon));
  }

  AggregateOptions options(const FamilyRow& family) const {
    const NullableDatum& last = arguments_.values[arguments_.count - 1];
    if (!has_options() || last.isnull) return default_options(family);
    return parse_options(DatumGetJsonbP(last.value), family);
  }

 private:
  bool has_options() const {
    return arguments_.count > 0 && arguments_.types[arguments_.count - 1] == JSONBOID;
  }

  const CallArguments& arguments_;
  int next_ = 0;
};

// ereports unless the array is one-dimensional and without NULL.
void require_list(ArrayType* array, const char* name, const char* hint) {
  if (ARR_NDIM(array) > 1) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("%s must be a one-dimensional array, got %d dimensions", name, ARR_NDIM(array)),
             errhint("%s", hint)));
  }
  if (array_contains_nulls(array)) refuse_null(psprintf("an element of %s", name));
}

std::span<const double> array_elements(ArrayType* array) {
  require_list(array, "quantiles", "Write for example ARRAY[0.25, 0.5, 0.75].");
  return {reinterpret_cast<const double*>(ARR_DATA_PTR(array)),
          static_cast<std::size_t>(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)))};
}

[[noreturn]] void refuse_count(const CallArguments& arguments) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a private aggregate cannot have %d parameters", arguments.count),
                  errhint("Call the private aggregate itself. Another aggregate can combine its "
                          "states but not finish them.")));
}

// The argument `quantiles`, `quantile`, or none of them for the median.
void read_quantiles(ArgumentReader& reader, GivenParameters* given) {
  if (reader.remaining() < static_cast<int>(row_of(given->family).parameters().size())) {
    given->quantiles = {&kMedian, 1};
  } else if (reader.next_is(FLOAT8ARRAYOID)) {
    given->quantiles = array_elements(DatumGetArrayTypeP(reader.required("quantiles")));
  } else {
    auto* quantile = static_cast<double*>(palloc(sizeof(double)));
    *quantile = DatumGetFloat8(reader.required("quantile"));
    given->quantiles = {quantile, 1};
    given->names_quantile = true;
  }
}

void read_size(ArgumentReader& reader, GivenParameters* given) {
  const int64 size = reader.whole(Argument::kSize);
  report(guarded([&] { check_synthesis_size(size); }));
  given->size = static_cast<uint32>(size);
}

[[noreturn]] void refuse_temporal_iqr_by_quantiles() {
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("method quantiles of dp_iqr does not take dates and times"),
           errhint("Ask dp_quantiles for ARRAY[0.25, 0.75], and subtract the two answers. It "
                   "costs the same.")));
}

void take_bounds_from_options(const FamilyRow& family, GivenParameters* given) {
  if (!find_method(family, given->options.method)->bounds_from_options) return;
  if (is_temporal(given->value_type)) refuse_temporal_iqr_by_quantiles();
  report(guarded([&] { require_bounds_options(given->options); }));
  given->lower = *given->options.lower;
  given->upper = *given->options.upper;
}

const char* text_of_time(ValueType type, double number) {
  if (std::isinf(number)) return number < 0 ? "-infinity" : "infinity";
  return text_of_number(type, number);
}

// check_bin_bounds() would show the numbers of dates and times.
void require_ascending_times(ValueType type, std::span<const double> bounds) {
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    if (bounds[i - 1] < bounds[i]) continue;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bounds must ascend, got %s before %s",
                           text_of_time(type, bounds[i - 1]), text_of_time(type, bounds[i])),
                    errhint("Each bin goes from an element to the next one.")));
  }
}

// The bounds of bins, as numbers. Those of dates and times have the type of the values.
void read_bin_bounds(ArgumentReader& reader, GivenParameters* given) {
  ArrayType* array = DatumGetArrayTypeP(reader.required("bounds"));
  require_list(array, "bounds", "Write for example ARRAY[0, 18, 65, 120].");
  const ValueType type = type_of_bound(ARR_ELEMTYPE(array));
  int16 length;
  bool by_value;
  char alignment;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
  Datum* elements;
  int count;
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &elements, nullptr,
                    &count);
  auto* bounds = static_cast<double*>(palloc(count * sizeof(double) + 1));
  for (int i = 0; i < count; ++i) bounds[i] = number_of_value(type, elements[i]);
  given->bin_bounds = {bounds, static_cast<std::size_t>(count)};
  if (is_temporal(type)) require_ascending_times(type, given->bin_bounds);
}

void read_argument(ArgumentReader& reader, Argument argument, GivenParameters* given) {
  switch (argument) {
    case Argument::kQuantiles:
      return read_quantiles(reader, given);
    case Argument::kSize:
      return read_size(reader, given);
    case Argument::kEpsilon:
      given->privacy = reader.privacy(row_of(given->family), given->options.rho);
      return;
    case Argument::kLower:
      given->lower = reader.bound(argument);
      return;
    case Argument::kUpper:
      given->upper = reader.bound(argument);
      return;
    case Argument::kXLower:
      given->x_bounds[0] = reader.bound(argument);
      return;
    case Argument::kXUpper:
      given->x_bounds[1] = reader.bound(argument);
      return;
    case Argument::kBinBounds:
      return read_bin_bounds(reader, given);
    case Argument::kDelta:
      given->delta = reader.amount(argument);
      return;
    case Argument::kMaxGroups:
      given->max_groups = reader.whole(argument);
      return;
    case Argument::kNone:
    case Argument::kUser:
    case Argument::kGrid:
    case Argument::kValue:
    case Argument::kX:
      return;  // no parameters
  }
}

void read_arguments(const CallArguments& arguments, ArgumentReader& reader,
                    GivenParameters* given) {
  const FamilyRow& row = row_of(given->family);
  const auto most = static_cast<int>(row.parameters().size());
  const int least = row.has(Argument::kQuantiles) ? most - 1 : most;
  if (reader.remaining() < least || reader.remaining() > most) refuse_count(arguments);
  for (const Argument argument : row.parameters()) read_argument(reader, argument, given);
}

// Errors about dates and times show dates and times.
Failure check_temporal_bounds(const GivenParameters& given) {
  Failure failure{};
  const bool has_bounds = row_of(given.family).has(Argument::kLower);
  if (!has_bounds || !is_temporal(given.value_type)) return failure;
  if (!std::isfinite(given.lower) || !std::isfinite(given.upper)) {
    failure.sqlstate = ERRCODE_INVALID_PARAMETER_VALUE;
    failure.argument = Argument::kLower;
    strlcpy(failure.message, "lower and upper must be finite", sizeof failure.message);
    strlcpy(failure.hint, kPublicBoundsHint, sizeof failure.hint);
  } else if (given.lower >= given.upper) {
    failure.sqlstate = ERRCODE_INVALID_PARAMETER_VALUE;
    failure.argument = Argument::kLower;
    snprintf(failure.message, sizeof failure.message,
             "lower must be less than upper, got %s and %s",
             text_of_number(given.value_type, given.lower),
             text_of_number(given.value_type, given.upper));
    strlcpy(failure.hint, kPublicBoundsHint, sizeof failure.hint);
  }
  return failure;
}

// How an argument was read; null if its place cannot be mistaken.
const char* reading_of(Argument argument, const GivenParameters& given) {
  switch (argument) {
    case Argument::kQuantiles:
      if (!given.names_quantile) return nullptr;
      return psprintf("quantile %s", decimal_text(given.quantiles.front()));
    case Argument::kSize:
      return psprintf("size %u", given.size);
    case Argument::kEpsilon:
      if (given.privacy.measure != PrivacyMeasure::kPure) return nullptr;
      return psprintf("epsilon %s", decimal_text(given.privacy.value));
    case Argument::kLower:
      return psprintf("lower %s", text_of_number(given.value_type, given.lower));
    case Argument::kUpper:
      return psprintf("upper %s", text_of_number(given.value_type, given.upper));
    case Argument::kXLower:
      return psprintf("x_lower %s", decimal_text(given.x_bounds[0]));
    case Argument::kXUpper:
      return psprintf("x_upper %s", decimal_text(given.x_bounds[1]));
    case Argument::kDelta:
      return psprintf("delta %s", decimal_text(given.delta));
    case Argument::kMaxGroups:
      return psprintf("max_groups " INT64_FORMAT, given.max_groups);
    case Argument::kBinBounds:
    case Argument::kNone:
    case Argument::kUser:
    case Argument::kGrid:
    case Argument::kValue:
    case Argument::kX:
      break;
  }
  return nullptr;
}

// How the call was read: "quantile 0.5, epsilon 1, lower 0, upper 100". Named arguments are not
// possible in a call of an aggregate, so a wrong order is a common mistake.
const char* reading_of(const GivenParameters& given) {
  StringInfoData text;
  initStringInfo(&text);
  for (const Argument argument : row_of(given.family).parameters()) {
    const char* reading = reading_of(argument, given);
    if (reading == nullptr) continue;
    appendStringInfo(&text, "%s%s", text.len == 0 ? "" : ", ", reading);
  }
  return text.data;
}

void report_with_reading(Failure failure, const GivenParameters& given) {
  if (failure.argument != Argument::kNone) {
    const char* separator = failure.hint[0] == '\0' ? "" : " ";
    strlcat(failure.hint, psprintf("%sThe arguments are read as %s.", separator, reading_of(given)),
            sizeof failure.hint);
  }
  report(failure);
}

[[noreturn]] void refuse_time_granularity(const char* given) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("option \"granularity\" must be a number, got \"%s\"", given),
                  errhint("Intervals are for dates and times.")));
}

// The granularity of dates is a number of days or an interval, that of times an interval.
void read_granularity(GivenParameters* given) {
  AggregateOptions* options = &given->options;
  if (options->time_granularity != nullptr) {
    if (!is_temporal(given->value_type)) refuse_time_granularity(options->time_granularity);
    options->granularity = step_of_interval(
        given->value_type,
        DirectFunctionCall3(interval_in, CStringGetDatum(options->time_granularity),
                            ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
    return;
  }
  if (!options->granularity || !is_temporal(given->value_type)) return;
  if (given->value_type == ValueType::kDate) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("the granularity of times must be an interval, got %g", *options->granularity),
           errhint("Write for example dp_time_options('1 hour').")));
}

}  // namespace

AggregateParameters* read_parameters(Family family, ValueType type, const CallArguments& arguments,
                                     uint64 user_key_check) {
  const FamilyRow& row = row_of(family);
  ArgumentReader reader(arguments);
  GivenParameters given{};
  given.family = family;
  given.value_type = type;
  given.user_key_check = user_key_check;
  given.options = reader.options(row);
  read_granularity(&given);
  read_arguments(arguments, reader, &given);
  take_bounds_from_options(row, &given);
  report_with_reading(check_temporal_bounds(given), given);
  AggregateParameters* made;
  report_with_reading(try_make_parameters(given, &made), given);
  return made;
}

}  // namespace dpquantile
