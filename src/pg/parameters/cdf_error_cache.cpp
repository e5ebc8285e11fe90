#include "pg/parameters/cdf_error_cache.hpp"

#include <algorithm>
#include <array>

namespace dpquantile {

namespace {

constexpr std::size_t kMostKept = 64;

template <class Error>
class KeptErrors {
 public:
  template <class Compute>
  Error get(const CdfPlan& plan, double confidence, const Workspace& work, Compute compute) {
    const auto found = std::ranges::find_if(kept_, [&](const Kept& other) {
      return other.confidence == confidence && other.plan == plan;
    });
    if (found != kept_.end()) return found->error;
    const Error error = compute(plan, confidence, work);
    kept_[oldest_] = {plan, confidence, error};
    oldest_ = (oldest_ + 1) % kMostKept;
    return error;
  }

 private:
  struct Kept {
    CdfPlan plan;
    double confidence;
    Error error;
  };

  std::array<Kept, kMostKept> kept_{};
  std::size_t oldest_ = 0;
};

}  // namespace

CdfError session_cdf_error(const CdfPlan& plan, double confidence, const Workspace& work) {
  static KeptErrors<CdfError> kept;
  return kept.get(plan, confidence, work, simulate_cdf_error);
}

FractionErrors session_fraction_errors(const CdfPlan& plan, double confidence,
                                       const Workspace& work) {
  static KeptErrors<FractionErrors> kept;
  return kept.get(plan, confidence, work, fraction_errors);
}

}  // namespace dpquantile
