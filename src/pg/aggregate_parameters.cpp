#include "pg/aggregate_parameters.hpp"

#include "core/quantiles.hpp"
#include "pg/boundary.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

namespace dpquantile {

namespace {

constexpr double kMedian = 0.5;

// What every call has after its quantiles and before its options.
constexpr const char* kCommonNames[] = {"epsilon", "lower", "upper"};
constexpr int kCommonCount = 3;

[[noreturn]] void refuse_null(const char* name) {
  ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be NULL", name),
                  errhint("Give a value; NULL has no default.")));
}

double number(const CallArguments& arguments, int index, const char* name) {
  if (arguments.values[index].isnull) refuse_null(name);
  return DatumGetFloat8(arguments.values[index].value);
}

AggregateOptions read_options(Family family, const CallArguments& arguments, int index) {
  if (index >= arguments.count || arguments.values[index].isnull) return default_options(family);
  return parse_options(DatumGetJsonbP(arguments.values[index].value), family);
}

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

}  // namespace

AggregateParameters* make_parameters(Family family, double epsilon, double lower, double upper,
                                     const AggregateOptions& options, const double* quantiles,
                                     uint32 quantile_count) {
  auto* parameters = static_cast<AggregateParameters*>(palloc0(parameters_size(quantile_count)));
  report(guarded([&] {
    const auto granularity =
        options.has_granularity ? std::optional<double>(options.granularity) : std::nullopt;
    const auto bins = options.has_bins ? std::optional<double>(options.bins) : std::nullopt;
    if (family == Family::kQuantiles) check_quantiles({quantiles, quantile_count});
    check_epsilon(epsilon);
    if (family == Family::kQuantiles) {
      parameters->grid = Grid::create(lower, upper, granularity);
    } else {
      const CdfDomain domain = CdfDomain::create(lower, upper, bins, granularity);
      parameters->bins = domain.bins;
      parameters->grid = domain.grid();
    }
  }));
  parameters->family = family;
  parameters->method = options.method;
  parameters->epsilon = epsilon;
  parameters->lower = lower;
  parameters->upper = upper;
  parameters->granularity = options.has_granularity ? options.granularity : 0;
  parameters->quantile_count = quantile_count;
  memcpy(parameters->quantiles, quantiles, quantile_count * sizeof(double));
  return parameters;
}

AggregateParameters* read_parameters(Family family, const CallArguments& arguments) {
  const bool has_options = arguments.count > 0 && arguments.types[arguments.count - 1] == JSONBOID;
  const int common_at = arguments.count - (has_options ? 1 : 0) - kCommonCount;
  if (common_at != 0 && common_at != 1) {
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR),
                    errmsg("unexpected number of aggregate parameters: %d", arguments.count)));
  }

  double quantile = kMedian;
  const double* quantiles = &quantile;
  uint32 quantile_count = family == Family::kQuantiles ? 1 : 0;
  if (common_at == 1 && arguments.types[0] == FLOAT8ARRAYOID) {
    if (arguments.values[0].isnull) refuse_null("quantiles");
    quantiles = array_elements(DatumGetArrayTypeP(arguments.values[0].value), &quantile_count);
  } else if (common_at == 1) {
    quantile = number(arguments, 0, "quantile");
  }
  double common[kCommonCount];
  for (int i = 0; i < kCommonCount; ++i) {
    common[i] = number(arguments, common_at + i, kCommonNames[i]);
  }
  return make_parameters(family, common[0], common[1], common[2],
                         read_options(family, arguments, common_at + kCommonCount), quantiles,
                         quantile_count);
}

bool same_parameters(const AggregateParameters* a, const AggregateParameters* b) {
  return a->quantile_count == b->quantile_count &&
         memcmp(a, b, parameters_size(a->quantile_count)) == 0;
}

CdfDomain domain_of(const AggregateParameters* parameters) {
  return {parameters->lower, parameters->upper, parameters->granularity, parameters->bins};
}

}  // namespace dpquantile
