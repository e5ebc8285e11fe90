#include "core/user_level/window_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace dpquantile {

namespace {

constexpr double kMiddle = 0.5;
constexpr double kErrorOfMiss = 1.0 / 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// For a standard normal Z.
double below(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}
// E max(0, z - Z).
double shortfall(double z) {
  if (z == -kInfinity) return 0;
  return z * below(z) + std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}

class WindowModel {
 public:
  WindowModel(const NormalArrays& arrays, const WindowPlan& plan, double epsilon, double noise)
      : arrays_(arrays),
        target_(static_cast<double>(plan.clipped)),
        lambda_(epsilon / 2),
        noise_(noise),
        preference_(plan.narrow_preference),
        widths_(kWidthsPerOctave * plan.finest) {}

  double error() {
    for (unsigned j = 0; j <= widths_; ++j) {
      const double width = std::exp2(-static_cast<double>(j) / kWidthsPerOctave);
      const double preference = std::exp2(preference_ * j / kWidthsPerOctave);
      const double all = kStartsPerWidth * (1 - width) / width + 1;
      const bool narrow = j > 0 && width < arrays_.spread / 2;
      const double held = narrow ? 0 : std::min<double>(all, kStartsPerWidth);
      // The other half is the mirror image.
      for (unsigned i = 0; i < kStartsPerWidth / 2 && !narrow; ++i) {
        const double before = width * (i + 0.5) / kStartsPerWidth;
        add_window(std::clamp(kMiddle - before, 0.0, 1 - width), width,
                   preference * held / (kStartsPerWidth / 2));
      }
      add(preference * (all - held), arrays_.count - target_, kErrorOfMiss);
    }
    return errors_ / weights_;
  }

 private:
  void add_window(double begin, double width, double preference) {
    // No array mean lies outside the range.
    const double low = begin > 0 ? (begin - kMiddle) / arrays_.spread : -kInfinity;
    const double high = begin + width < 1 ? (begin + width - kMiddle) / arrays_.spread : kInfinity;
    const double l = arrays_.count * below(low) - target_;
    const double r = arrays_.count * below(-high) - target_;
    const double shift = arrays_.spread * std::abs(shortfall(low) - shortfall(-high));
    const double noise = noise_ * width;
    // E |shift + Laplace noise|.
    const double error = shift + noise * std::exp(-shift / noise);
    add(preference, std::max({std::abs(l), std::abs(r), std::abs(l + r)}), error);
  }

  void add(double preference, double cost, double error) {
    const double weight = preference * std::exp(-lambda_ * cost);
    weights_ += weight;
    errors_ += weight * error;
  }

  NormalArrays arrays_;
  double target_;
  double lambda_;
  double noise_;
  double preference_;
  unsigned widths_;
  double weights_ = 0;
  double errors_ = 0;
};

}  // namespace

double expected_window_error(const NormalArrays& arrays, const WindowPlan& plan, double epsilon,
                             double noise) {
  return WindowModel(arrays, plan, epsilon, noise).error();
}

}  // namespace dpquantile
