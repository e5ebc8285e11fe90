#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>
#include <vector>

#include "core/histogram/histogram.hpp"
#include "core/quantiles/quantiles.hpp"
#include "support/context_testing.hpp"
#include "support/dataset.hpp"

namespace dpquantile::test {

inline Histogram histogram_of(Dataset data) {
  return Histogram(data.records, data.cells, TestWorkspace());
}

// Independent releases of the mechanism under test for one dataset.
class QuantilesSampler {
 public:
  QuantilesSampler(const Dataset& data, std::vector<double> quantiles, double epsilon,
                   QuantilesMethod method = QuantilesMethod::kApproximate)
      : QuantilesSampler(data, std::move(quantiles), pure(epsilon), method) {}
  QuantilesSampler(const Dataset& data, std::vector<double> quantiles,
                   const PrivacyParameter& privacy, QuantilesMethod method)
      : histogram_(histogram_of(data)),
        cells_(data.cells),
        quantiles_(std::move(quantiles)),
        privacy_(privacy),
        method_(method) {}

  // The answers, in the order of the quantiles.
  std::vector<std::uint32_t> draw() {
    std::array<std::byte, 16384> buffer;
    std::pmr::monotonic_buffer_resource memory(buffer.data(), buffer.size());
    const QuantilesQuery query{method_, privacy_, cells_, quantiles_};
    const auto answers = draw_quantiles(histogram_, query, context_.with(&memory));
    return {answers.begin(), answers.end()};
  }

 private:
  Histogram histogram_;
  std::uint64_t cells_;
  std::vector<double> quantiles_;
  PrivacyParameter privacy_;
  QuantilesMethod method_;
  TestContext context_;
};

}  // namespace dpquantile::test
