#include "pg/parameters/aggregate_parameters.hpp"

#include <string>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/iqr/iqr.hpp"
#include "core/quantiles/uniform_quantiles.hpp"
#include "core/user_level/user_variance.hpp"
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
                  errhint("Give a value; NULL has no default.")));
}

[[noreturn]] void refuse_null_epsilon() {
  ereport(ERROR,
          (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("epsilon must not be NULL"),
           errhint("Give a value; NULL has no default. It goes only with the option rho, for "
                   "example dp_options(rho => 0.01).")));
}

[[noreturn]] void refuse_epsilon_with_rho(double epsilon) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("epsilon must be NULL with option \"rho\", got %g", epsilon),
           errhint("The guarantee is stated in one of them: write NULL for epsilon, or leave the "
                   "option out.")));
}

// Reads a call's arguments one after the other.
class ArgumentReader {
 public:
  explicit ArgumentReader(const CallArguments& arguments) : arguments_(arguments) {}

  // How many arguments are left, without the options.
  int left() const { return arguments_.count - next_ - (has_options() ? 1 : 0); }
  bool next_is(Oid type) const { return arguments_.types[next_] == type; }

  Datum required(const char* name) {
    const NullableDatum& argument = arguments_.values[next_++];
    if (argument.isnull) refuse_null(name);
    return argument.value;
  }
  double number(const char* name) { return DatumGetFloat8(required(name)); }

  // What epsilon and the option rho ask for together: one of them is given.
  PrivacyParameter privacy(Family family, const std::optional<double>& rho) {
    if (may_state_rho(family)) {
      const NullableDatum& epsilon = arguments_.values[next_];
      if (!rho && epsilon.isnull) refuse_null_epsilon();
      if (rho && !epsilon.isnull) refuse_epsilon_with_rho(DatumGetFloat8(epsilon.value));
      if (rho) {
        ++next_;
        return zcdp(*rho);
      }
    }
    return pure(number("epsilon"));
  }

  AggregateOptions options(Family family) const {
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

// The elements of a float8[] as one double each; ereports unless it is one-dimensional without
// NULL.
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
                  errmsg("expected the parameters of a private aggregate, got %d of them",
                         arguments.count),
                  errhint("Call the aggregate itself: another one can combine its states, but not "
                          "finish them.")));
}

// The quantiles that come before the other arguments, if any do.
void read_quantiles(ArgumentReader& reader, GivenParameters* given) {
  constexpr int kCommonArguments = 3;  // epsilon, lower, upper
  auto* quantile = static_cast<double*>(palloc(sizeof(double)));
  *quantile = kMedian;
  given->quantiles = quantile;
  given->quantile_count = 1;
  if (reader.left() == kCommonArguments) return;
  if (reader.next_is(FLOAT8ARRAYOID)) {
    given->quantiles =
        array_elements(DatumGetArrayTypeP(reader.required("quantiles")), &given->quantile_count);
  } else {
    *quantile = reader.number("quantile");
  }
}

// The number of quantiles that stand for the data, in place of the quantiles themselves.
void read_size(ArgumentReader& reader, GivenParameters* given) {
  const int32 size = DatumGetInt32(reader.required("size"));
  report(guarded([&] { check_synthesis_size(size); }));
  given->quantile_count = static_cast<uint32>(size);
}

bool by_test(Family family, Method method) {
  return family == Family::kIqr && method == static_cast<Method>(IqrMethod::kProposeTestRelease);
}

constexpr const char* kBoundsHint =
    "Write for example dp_options(method => 'quantiles', lower => 0, upper => 100), with 0 for "
    "delta.";

// An option of the method quantiles.
void refuse_option_with_test(const char* name, bool is_given) {
  if (!is_given) return;
  throw ParameterError(
      std::string("option \"") + name + "\" does not go with method propose-test-release",
      std::string("It goes with method quantiles. ") + kBoundsHint);
}

void require_option(const char* name, bool is_given) {
  if (is_given) return;
  throw ParameterError(std::string("method quantiles needs the option \"") + name + "\"",
                       kBoundsHint);
}

// The checks of a family, in C++: throw ParameterError.
void check_quantile_parameters(const GivenParameters& given, AggregateParameters* checked) {
  constexpr std::uint64_t kNotChecked = 0;
  check_quantiles_query({static_cast<QuantilesMethod>(given.options.method),
                         given.privacy,
                         kNotChecked,
                         {given.quantiles, given.quantile_count}});
  checked->grid = ValueGrid::create(given.lower, given.upper, given.options.granularity);
}

void check_cdf_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_privacy_parameter(given.privacy);
  const CdfDomain domain =
      CdfDomain::create(given.lower, given.upper, given.options.bins, given.options.granularity);
  checked->bins = domain.bins;
  checked->grid = domain.grid();
}

void check_iqr_by_test(const GivenParameters& given) {
  refuse_option_with_test("lower", given.options.lower.has_value());
  refuse_option_with_test("upper", given.options.upper.has_value());
  refuse_option_with_test("granularity", given.options.granularity.has_value());
  check_iqr_delta(given.delta);
}

void check_iqr_by_quantiles(const GivenParameters& given, AggregateParameters* checked) {
  if (given.delta != 0) {
    throw ParameterError(
        "delta must be 0 with method quantiles, got " + shortest_decimal(given.delta),
        "Write 0 for delta: this method is purely epsilon-differentially private and spends none.");
  }
  checked->grid = ValueGrid::create(given.lower, given.upper, given.options.granularity);
}

void check_iqr_parameters(const GivenParameters& given, AggregateParameters* checked) {
  check_epsilon(given.privacy.value);
  if (by_test(given.family, given.options.method)) {
    check_iqr_by_test(given);
  } else {
    check_iqr_by_quantiles(given, checked);
  }
}

void check_user_parameters(const GivenParameters& given, AggregateParameters* checked) {
  const std::optional<ContributionLimit>& limit = given.options.max_contributions;
  const auto method = static_cast<UserMethod>(given.options.method);
  if (limit && method == UserMethod::kBaseline) {
    throw ParameterError("option \"max_contributions\" does not go with method baseline",
                         "This method keeps all rows; method array is the same with a limit.");
  }
  UserQuery query{method, ContributionRule::kOptimal, 0, given.privacy.value};
  if (limit) {
    query.rule = limit->rule;
    query.max_contributions = limit->number;
  }
  const bool is_variance = given.family == Family::kUserVariance;
  is_variance ? check_user_variance_query(query) : check_user_query(query);
  const FixedPoint scale = FixedPoint::create(given.lower, given.upper);
  if (given.family != Family::kUserMean) scale.check_variance_representable();
  checked->contribution_rule = query.rule;
  checked->max_contributions = static_cast<uint32>(query.max_contributions);
  checked->suppress = given.family == Family::kUserGrids && given.options.suppress.value_or(true);
}

void check_parameters(const GivenParameters& given, AggregateParameters* checked) {
  switch (given.family) {
    case Family::kQuantiles:
    case Family::kSynthesis:
      return check_quantile_parameters(given, checked);
    case Family::kCdf:
      return check_cdf_parameters(given, checked);
    case Family::kIqr:
      return check_iqr_parameters(given, checked);
    case Family::kUserMean:
    case Family::kUserVariance:
    case Family::kUserGrids:
      return check_user_parameters(given, checked);
  }
}

// An interquartile range by quantiles has its bounds among the options.
void take_bounds_from_options(GivenParameters* given) {
  if (by_test(given->family, given->options.method)) return;
  report(guarded([&] {
    require_option("lower", given->options.lower.has_value());
    require_option("upper", given->options.upper.has_value());
  }));
  given->lower = *given->options.lower;
  given->upper = *given->options.upper;
}

// The quantiles that make up a synthetic sample.
const double* make_uniform_quantiles(uint32 count) {
  auto* quantiles = static_cast<double*>(palloc(count * sizeof(double) + 1));
  for (uint32 i = 0; i < count; ++i) quantiles[i] = uniform_quantile(i, count);
  return quantiles;
}

// The given parameters with the quantiles that the aggregate asks for, none where it takes none.
GivenParameters with_quantiles(GivenParameters given) {
  if (given.family == Family::kQuantiles) return given;
  if (given.family == Family::kSynthesis) {
    given.quantiles = make_uniform_quantiles(given.quantile_count);
    return given;
  }
  given.quantiles = nullptr;
  given.quantile_count = 0;
  return given;
}

}  // namespace

AggregateParameters* make_parameters(const GivenParameters& any_given) {
  const GivenParameters given = with_quantiles(any_given);
  auto* parameters =
      static_cast<AggregateParameters*>(palloc0(parameters_size(given.quantile_count)));
  report(guarded([&] { check_parameters(given, parameters); }));
  parameters->family = given.family;
  parameters->method = given.options.method;
  parameters->measure = given.privacy.measure;
  parameters->guarantee = given.privacy.value;
  // A zero may come as -0, which is written with other bytes.
  parameters->delta = given.delta == 0 ? 0 : given.delta;
  parameters->lower = given.lower;
  parameters->upper = given.upper;
  parameters->granularity = given.options.granularity.value_or(0);
  parameters->quantile_count = given.quantile_count;
  parameters->user_key_check = given.user_key_check;
  if (given.quantile_count > 0) {
    memcpy(parameters->quantiles, given.quantiles, given.quantile_count * sizeof(double));
  }
  return parameters;
}

AggregateParameters* read_parameters(Family family, const CallArguments& arguments,
                                     uint64 user_key_check) {
  ArgumentReader reader(arguments);
  GivenParameters given{};
  given.family = family;
  given.user_key_check = user_key_check;
  given.options = reader.options(family);
  if (family == Family::kQuantiles) read_quantiles(reader, &given);
  if (family == Family::kSynthesis) read_size(reader, &given);
  if (reader.left() != (family == Family::kIqr ? 2 : 3)) refuse_count(arguments);
  given.privacy = reader.privacy(family, given.options.rho);
  if (family == Family::kIqr) {
    given.delta = reader.number("delta");
  } else {
    given.lower = reader.number("lower");
    given.upper = reader.number("upper");
  }
  if (family == Family::kIqr) take_bounds_from_options(&given);
  return make_parameters(given);
}

bool same_parameters(const AggregateParameters* a, const AggregateParameters* b) {
  return a->quantile_count == b->quantile_count &&
         memcmp(a, b, parameters_size(a->quantile_count)) == 0;
}

int row_arguments(Family family) {
  if (!is_user_level(family)) return 1;
  return family == Family::kUserGrids ? 3 : 2;
}

RecordKind record_kind(const AggregateParameters* parameters) {
  if (is_user_level(parameters->family)) return RecordKind::kUserRow;
  const bool has_grid = parameters->grid.cells > 0;
  return has_grid ? RecordKind::kRuns : RecordKind::kValue;
}

const char* neighbours(const AggregateParameters* parameters, bool has_group_keys) {
  if (parameters->family == Family::kUserGrids) {
    return "values of one user, rows per user and grid public";
  }
  if (is_user_level(parameters->family)) {
    const bool bounded = parameters->method == static_cast<Method>(UserMethod::kBounded);
    return bounded ? "add or remove one user" : "values of one user, rows per user public";
  }
  if (!by_test(parameters->family, parameters->method)) return "add or remove one row";
  return has_group_keys ? "add or remove one row, or replace it within its group"
                        : "add, remove or replace one row";
}

PrivacyParameter privacy_of(const AggregateParameters* parameters) {
  return {parameters->measure, parameters->guarantee};
}

QuantilesQuery quantiles_query_of(const AggregateParameters* parameters) {
  return {static_cast<QuantilesMethod>(parameters->method),
          privacy_of(parameters),
          parameters->grid.cells,
          {parameters->quantiles, parameters->quantile_count}};
}

CdfDomain domain_of(const AggregateParameters* parameters) {
  return {parameters->lower, parameters->upper, parameters->granularity, parameters->bins};
}

UserQuery user_query_of(const AggregateParameters* parameters) {
  return {static_cast<UserMethod>(parameters->method), parameters->contribution_rule,
          parameters->max_contributions, parameters->guarantee};
}

FixedPoint fixed_point_of(const AggregateParameters* parameters) {
  return {parameters->lower, parameters->upper};
}

}  // namespace dpquantile
