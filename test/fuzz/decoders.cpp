// Decoders of bytes from outside: what they accept must be what the encoders write, and everything
// that may be asked of it has an answer within its range.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/decimal_format.hpp"
#include "core/base/error.hpp"
#include "core/base/packed_rows.hpp"
#include "core/cdf/cdf_encoding.hpp"
#include "core/cdf/cdf_error.hpp"
#include "core/cdf/cdf_json.hpp"
#include "core/distinct/distinct_hashes.hpp"
#include "core/noisy_histogram/bin_bounds.hpp"
#include "core/plot/cdf_plot.hpp"
#include "fuzz/curve_checks.hpp"
#include "fuzz/target.hpp"

namespace dpquantile::fuzz {
namespace {

std::pmr::memory_resource* heap() {
  return std::pmr::new_delete_resource();
}

void decode_curve(std::span<const std::uint8_t> input) {
  const auto bytes = std::as_bytes(input);
  try {
    const CdfDomain domain = decode_cdf_domain(bytes);
    static_cast<void>(domain.bins);
  } catch (const CorruptInput&) {
  }
  try {
    const CdfCurve curve = decode_cdf(bytes, heap());
    const auto again = encode_cdf(curve, heap());
    require(std::ranges::equal(again, bytes), "a dp_cdf that is read is written as the same bytes");
    require(decode_cdf_domain(bytes).bins == curve.domain().bins, "both decoders agree");
    check_curve(curve);
  } catch (const CorruptInput&) {
  }
}

// A curve that has been written, with a few bytes changed: random bytes hardly ever pass the
// header.
void decode_edited_curve(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input(bytes.data(), bytes.size());
  const auto bins = input.ConsumeIntegralInRange<std::uint32_t>(1, 40);
  const auto method = static_cast<CdfMethod>(input.ConsumeIntegralInRange(1, 3));
  std::pmr::vector<std::int64_t> counts(bins);
  std::int64_t count = 0;
  for (std::int64_t& each : counts)
    each = count +=
        input.ConsumeIntegralInRange<std::int64_t>(0, 1 << input.ConsumeIntegralInRange(0, 24));
  const bool discrete = bins > 1 && input.ConsumeBool();
  const double upper = discrete ? bins - 1.0 : bins;
  const CdfDomain domain{0, upper, discrete ? 1.0 : 0.0, bins};
  const double epsilon = input.ConsumeFloatingPointInRange(0.1, 10.0);
  const CdfCurve curve(domain, choose_cdf_plan(method, bins, pure(epsilon)), std::move(counts));
  const auto written = encode_cdf(curve, heap());
  std::vector<std::uint8_t> edited(written.size());
  std::memcpy(edited.data(), written.data(), written.size());
  while (input.remaining_bytes() > 0 && !edited.empty()) {
    const auto at = input.ConsumeIntegralInRange<std::size_t>(0, edited.size() - 1);
    switch (input.ConsumeIntegralInRange(0, 3)) {
      case 0:
        edited.resize(at);
        break;
      case 1:
        edited.insert(edited.begin() + static_cast<std::ptrdiff_t>(at),
                      input.ConsumeIntegral<std::uint8_t>());
        break;
      default:
        edited[at] = input.ConsumeIntegral<std::uint8_t>();
    }
  }
  decode_curve(edited);
}

void decode_hashes(std::span<const std::uint8_t> input) {
  std::vector<std::uint64_t> hashes(input.size() / sizeof(std::uint64_t));
  if (!hashes.empty())
    std::memcpy(hashes.data(), input.data(), hashes.size() * sizeof(std::uint64_t));
  if (input.size() % 2 == 1) std::ranges::sort(hashes);
  const bool ascends =
      std::ranges::adjacent_find(hashes, std::ranges::greater_equal()) == hashes.end();
  try {
    const DistinctHashes set(hashes, heap());
    require(ascends, "hashes that do not ascend are refused");
    require(set.size() == hashes.size(), "the set has every hash");
    require(std::ranges::equal(set.sorted(heap()), hashes), "the set gives its hashes back");
  } catch (const CorruptInput&) {
    require(!ascends, "hashes that ascend are accepted");
  }
  DistinctHashes added(heap());
  for (const std::uint64_t hash : hashes) added.add(hash);
  const auto sorted = added.sorted(heap());
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  require(std::ranges::equal(sorted, hashes), "adding gives the same set");
}

void decimals(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input(bytes.data(), bytes.size());
  const double value = any_double(input);
  const std::string text = shortest_decimal(value);
  if (std::isfinite(value)) {
    require(std::strtod(text.c_str(), nullptr) == value, "the shortest decimal reads back");
    require(text.size() <= 24, "the shortest decimal is short");
  }
  const int places = input.ConsumeIntegralInRange(0, 300);
  if (std::abs(value) < 1e15) {
    const double rounded = round_to_places(value, places);
    require(std::abs(rounded - value) <=
                0.5 * std::pow(10, -places) * (1 + 1e-9) + 1e-300 + std::abs(value) * 1e-15,
            "rounding moves by half a place");
  }
  const double step = any_double(input);
  const double magnitude = any_double(input);
  if (std::isfinite(value) && step > 0 && std::isfinite(step) && magnitude > 0 &&
      std::isfinite(magnitude)) {
    require(!std::isnan(decimal_of_step(value, step, magnitude)),
            "a decimal of a step is a number");
  }
}

void bins(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input(bytes.data(), bytes.size());
  std::vector<double> bounds(input.ConsumeIntegralInRange<std::size_t>(0, 40));
  for (double& bound : bounds) bound = any_double(input);
  if (input.ConsumeBool())
    std::ranges::sort(
        bounds, [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  try {
    check_bin_bounds(bounds);
  } catch (const ParameterError&) {
    return;
  }
  while (input.remaining_bytes() > 0) {
    const double value = any_double(input);
    const auto bin = bin_of(bounds, value);
    if (!bin) {
      require(std::isnan(value) || value < bounds.front() || value > bounds.back(),
              "a value inside has a bin");
      continue;
    }
    require(*bin + 1 < bounds.size(), "the bin exists");
    require(bounds[*bin] <= value && value <= bounds[*bin + 1], "the value lies in its bin");
  }
}

void add_number(std::vector<std::uint8_t>& bytes, std::uint64_t number) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&number);
  bytes.insert(bytes.end(), from, from + sizeof number);
}

void add_value(std::vector<std::uint8_t>& bytes, const PackedForm& form, const PackedValue& value) {
  add_number(bytes, value.is_null ? kPackedNull : kPackedValue);
  if (value.is_null) return;
  add_number(bytes, form.is_number ? value.number : value.bytes.size());
  for (const std::byte byte : value.bytes) bytes.push_back(std::to_integer<std::uint8_t>(byte));
}

// Kept answers. The first bytes say what their columns are.
void packed_rows(std::span<const std::uint8_t> bytes) {
  FuzzedDataProvider input(bytes.data(), bytes.size());
  std::vector<PackedForm> forms(input.ConsumeIntegralInRange<std::size_t>(0, 4));
  for (PackedForm& form : forms) {
    form = {input.ConsumeBool(), input.ConsumeIntegralInRange<std::uint64_t>(0, 20)};
    if (input.ConsumeBool()) form.length = kAnyLength;
  }
  const auto packed = input.ConsumeRemainingBytes<std::uint8_t>();
  FieldReader fields(std::as_bytes(std::span(packed)));
  std::vector<PackedValue> values(forms.size());
  std::vector<std::uint8_t> again;
  RowRead read;
  while ((read = read_packed_row(&fields, forms, values)) == RowRead::kRow) {
    add_number(again, kPackedRow);
    for (std::size_t i = 0; i < forms.size(); ++i) add_value(again, forms[i], values[i]);
  }
  if (read == RowRead::kEnd) add_number(again, kPackedEnd);
  require(again.size() <= packed.size() && std::equal(again.begin(), again.end(), packed.begin()),
          "rows that are read are written as the same bytes");
  require(read == RowRead::kBroken || again.size() == packed.size(), "nothing is left at the end");
}

const TargetName kCurve("cdf_bytes", decode_curve);
const TargetName kEditedCurve("edited_cdf", decode_edited_curve);
const TargetName kHashes("hashes", decode_hashes);
const TargetName kDecimals("decimals", decimals);
const TargetName kBins("bins", bins);
const TargetName kPackedRows("packed_rows", packed_rows);

}  // namespace
}  // namespace dpquantile::fuzz
