#include "pg/parameters/read_parameters.hpp"

#include "core/privacy/privacy_parameter.hpp"
#include "core/quantiles/quantiles_query.hpp"
#include "pg/parameters/parameter_checks.hpp"
#include "pg/parameters/whole_number.hpp"
#include "pg/server/boundary.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

namespace dpquantile {

namespace {

constexpr double kMedian = 0.5;

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
  double number(const char* name) { return DatumGetFloat8(required(name)); }
  double amount(const char* name) { return stated_amount(number(name)); }
  int64 whole(const char* name) {
    const Oid type = arguments_.types[next_];
    return whole_number(required(name), type, name);
  }

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
    return pure(amount("epsilon"));
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

const double* array_elements(ArrayType* array, uint32* count) {
  if (ARR_NDIM(array) > 1) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("quantiles must be a one-dimensional array, got %d dimensions",
                           ARR_NDIM(array)),
                    errhint("Write for example ARRAY[0.25, 0.5, 0.75].")));
  }
  if (array_contains_nulls(array)) refuse_null("an element of quantiles");
  *count = static_cast<uint32>(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
  return reinterpret_cast<const double*>(ARR_DATA_PTR(array));
}

[[noreturn]] void refuse_count(const CallArguments& arguments) {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("a private aggregate cannot have %d parameters", arguments.count),
                  errhint("Call the private aggregate itself. Another aggregate can combine its "
                          "states but not finish them.")));
}

void read_quantiles(ArgumentReader& reader, GivenParameters* given) {
  constexpr int kCommonArguments = 3;  // epsilon, lower, upper
  auto* quantile = static_cast<double*>(palloc(sizeof(double)));
  *quantile = kMedian;
  given->quantiles = quantile;
  given->quantile_count = 1;
  if (reader.remaining() == kCommonArguments) return;
  if (reader.next_is(FLOAT8ARRAYOID)) {
    given->quantiles =
        array_elements(DatumGetArrayTypeP(reader.required("quantiles")), &given->quantile_count);
  } else {
    *quantile = reader.number("quantile");
  }
}

void read_size(ArgumentReader& reader, GivenParameters* given) {
  const int64 size = reader.whole("size");
  report(guarded([&] { check_synthesis_size(size); }));
  given->quantile_count = static_cast<uint32>(size);
}

void take_bounds_from_options(const FamilyRow& family, GivenParameters* given) {
  if (!find_method(family, given->options.method)->bounds_from_options) return;
  report(guarded([&] { require_bounds_options(given->options); }));
  given->lower = *given->options.lower;
  given->upper = *given->options.upper;
}

}  // namespace

AggregateParameters* read_parameters(Family family, const CallArguments& arguments,
                                     uint64 user_key_check) {
  const FamilyRow& row = row_of(family);
  ArgumentReader reader(arguments);
  GivenParameters given{};
  given.family = family;
  given.user_key_check = user_key_check;
  given.options = reader.options(row);
  if (row.leading == LeadingArgument::kQuantiles) read_quantiles(reader, &given);
  if (row.leading == LeadingArgument::kSize) read_size(reader, &given);
  const bool has_bounds = row.after_epsilon == ArgumentsAfterEpsilon::kBounds;
  if (reader.remaining() != (has_bounds ? 3 : 2)) refuse_count(arguments);
  given.privacy = reader.privacy(row, given.options.rho);
  if (has_bounds) {
    given.lower = reader.number("lower");
    given.upper = reader.number("upper");
  } else {
    given.delta = reader.amount("delta");
    take_bounds_from_options(row, &given);
  }
  return make_parameters(given);
}

}  // namespace dpquantile
