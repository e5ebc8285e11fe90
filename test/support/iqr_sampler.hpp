#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/base/radix_sort.hpp"
#include "core/iqr/distance_to_instability.hpp"
#include "core/iqr/iqr.hpp"
#include "core/iqr/log_grid.hpp"
#include "support/context_testing.hpp"
#include "support/iqr_reference.hpp"

namespace dpquantile::test {

// Independent releases of the mechanism under test for one dataset.
class IqrSampler {
 public:
  IqrSampler(Records records, double epsilon, double delta)
      : records_(std::move(records)), epsilon_(epsilon), delta_(delta) {}

  std::optional<double> draw() {
    scratch_ = records_;
    return interquartile_range(scratch_, epsilon_, delta_, context_);
  }

  std::optional<double> draw_on(const LogGrid& grid) {
    // The budget and margin of the only stage for few records.
    IqrStage stage = IqrPlan(LogGrid::kMinCount, epsilon_, delta_).stages().back();
    stage.grid = grid;
    return draw_by({&stage, 1});
  }

  std::optional<double> draw_by(std::span<const IqrStage> stages) {
    scratch_ = records_;
    for (double& record : scratch_) record = std::clamp(record, -kLargestRecord, kLargestRecord);
    radix_sort(scratch_, context_);
    return interquartile_range_by(stages, OrderStatistics(scratch_), context_);
  }

 private:
  Records records_;
  Records scratch_;
  double epsilon_;
  double delta_;
  TestContext context_;
};

}  // namespace dpquantile::test
