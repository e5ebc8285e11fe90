#include "pg/parameters/aggregate_parameters.hpp"

#include "core/quantiles/default_method.hpp"
#include "core/quantiles/quantiles_query.hpp"

namespace dpquantile {

namespace {

std::span<const double> make_uniform_quantiles(uint32 count) {
  auto* quantiles = static_cast<double*>(palloc(count * sizeof(double) + 1));
  for (uint32 i = 0; i < count; ++i) quantiles[i] = uniform_quantile(i, count);
  return {quantiles, count};
}

// The list of numbers of a call of the family.
std::span<const double> list_of(const GivenParameters& given) {
  const FamilyRow& row = row_of(given.family);
  if (row.has(Argument::kBinBounds)) return given.bin_bounds;
  if (row.has(Argument::kX)) return given.x_bounds;
  if (row.has(Argument::kQuantiles) || row.has(Argument::kSize)) return given.quantiles;
  return {};
}

}  // namespace

Failure try_make_parameters(const GivenParameters& any_given, AggregateParameters** made) {
  GivenParameters given = any_given;
  if (row_of(given.family).has(Argument::kSize)) {
    given.quantiles = make_uniform_quantiles(given.size);
  }
  const std::span<const double> list = list_of(given);
  auto* parameters = static_cast<AggregateParameters*>(palloc0(parameters_size(list.size())));
  *made = parameters;
  parameters->granularity = given.options.granularity.value_or(0);
  const Failure failure = guarded([&] { row_of(given.family).check(given, parameters); });
  if (failure.sqlstate != 0) return failure;
  parameters->has_grid = parameters->grid.cells > 0;
  parameters->family = given.family;
  parameters->method = given.options.method;
  parameters->measure = given.privacy.measure;
  parameters->value_type = given.value_type;
  parameters->guarantee = given.privacy.value;
  // -0 has other bytes than 0, and same_parameters() compares bytes.
  parameters->delta = given.delta == 0 ? 0 : given.delta;
  parameters->lower = given.lower;
  parameters->upper = given.upper;
  parameters->list_length = static_cast<uint32>(list.size());
  parameters->user_key_check = given.user_key_check;
  if (!list.empty()) memcpy(parameters->list, list.data(), list.size_bytes());
  return failure;
}

AggregateParameters* make_parameters(const GivenParameters& given) {
  AggregateParameters* made;
  report(try_make_parameters(given, &made));
  return made;
}

bool same_parameters(const AggregateParameters* a, const AggregateParameters* b) {
  return size_of(a) == size_of(b) && memcmp(a, b, size_of(a)) == 0;
}

const FamilyRow& family_of(const AggregateParameters* parameters) {
  return row_of(parameters->family);
}

const MethodRow& method_of(const AggregateParameters* parameters) {
  return *find_method(family_of(parameters), parameters->method);
}

bool leaves_method_to_budget(const AggregateParameters* parameters) {
  return parameters->family == Family::kQuantiles &&
         static_cast<QuantilesMethod>(parameters->method) == QuantilesMethod::kDefault;
}

Method method_for_budget(const AggregateParameters* parameters, const BudgetTerms& terms) {
  Method method{};
  report(guarded([&] {
    method = static_cast<Method>(default_method(quantiles_query_of(parameters), terms));
  }));
  return method;
}

namespace {

AggregateParameters* copy_of(const AggregateParameters* parameters) {
  const std::size_t size = size_of(parameters);
  auto* copy = static_cast<AggregateParameters*>(palloc(size));
  memcpy(copy, parameters, size);
  return copy;
}

}  // namespace

AggregateParameters* with_method(const AggregateParameters* parameters, Method method) {
  AggregateParameters* copy = copy_of(parameters);
  copy->method = method;
  return copy;
}

AggregateParameters* with_guarantee(const AggregateParameters* parameters, double guarantee) {
  AggregateParameters* copy = copy_of(parameters);
  copy->guarantee = guarantee;
  return copy;
}

PrivacyParameter privacy_of(const AggregateParameters* parameters) {
  return {parameters->measure, parameters->guarantee};
}

QuantilesQuery quantiles_query_of(const AggregateParameters* parameters) {
  return {static_cast<QuantilesMethod>(parameters->method), privacy_of(parameters),
          parameters->grid.cells, quantiles_of(parameters)};
}

OrdinalGrid ordinal_grid_of(ValueType type) {
  switch (type) {
    case ValueType::kDate:
      return {6, 13, 31};
    case ValueType::kTimestamp:
    case ValueType::kTimestamptz:
      return {6, 49, 63};
    case ValueType::kTime:
      return {6, 36, 37};
    case ValueType::kFloat8:
    case ValueType::kNumeric:
    case ValueType::kInteger:
    case ValueType::kBigint:
    case ValueType::kInterval:
    case ValueType::kSmallint:
    case ValueType::kReal:
      break;
  }
  return {3, -123, 1024};
}

CdfDomain domain_of(const AggregateParameters* parameters) {
  const ValueType type = parameters->value_type;
  return {parameters->lower, parameters->upper, parameters->granularity, parameters->bins,
          is_temporal(type) ? static_cast<uint8>(type) : uint8{0}};
}

UserQuery user_query_of(const AggregateParameters* parameters) {
  return {static_cast<UserMethod>(parameters->method), parameters->contribution_rule,
          parameters->max_contributions, privacy_of(parameters)};
}

FixedPoint fixed_point_of(const AggregateParameters* parameters) {
  return {parameters->lower, parameters->upper};
}

}  // namespace dpquantile
