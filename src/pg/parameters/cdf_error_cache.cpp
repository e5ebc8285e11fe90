#include "pg/parameters/cdf_error_cache.hpp"

#include <algorithm>
#include <array>

namespace dpquantile {

namespace {

constexpr std::size_t kMostKept = 64;

struct KeptError {
  CdfPlan plan;
  double confidence;
  CdfError error;
};

}  // namespace

CdfError session_cdf_error(const CdfPlan& plan, double confidence, const Workspace& work) {
  static std::array<KeptError, kMostKept> kept{};
  static std::size_t oldest = 0;
  const auto found = std::ranges::find_if(kept, [&](const KeptError& other) {
    return other.confidence == confidence && other.plan == plan;
  });
  if (found != kept.end()) return found->error;
  const CdfError error = simulate_cdf_error(plan, confidence, work);
  kept[oldest] = {plan, confidence, error};
  oldest = (oldest + 1) % kMostKept;
  return error;
}

}  // namespace dpquantile
