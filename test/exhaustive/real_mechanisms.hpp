#pragma once

#include <span>

#include "core/exponential/exponential_mechanism.hpp"
#include "core/user_level/window_interval.hpp"

// The mechanisms of src/core under the names that the Makefile gives them here.
namespace dpquantile {

Position real_draw_quantile_position(const SmearedRank& rank, PositionInterval interval, double q,
                                     double epsilon, const MechanismContext& context);
void real_draw_joint_positions(const SmearedRank& rank, PositionInterval interval,
                               std::span<const double> quantiles, double epsilon,
                               const MechanismContext& context, std::span<Position> positions);
ClippingInterval real_draw_levy_interval(std::span<const FilledArray> arrays,
                                         std::uint32_t half_width, double epsilon,
                                         const MechanismContext& context);
ClippingInterval real_draw_window_interval(std::span<const FilledArray> arrays,
                                           const WindowPlan& plan, double epsilon,
                                           const MechanismContext& context);

}  // namespace dpquantile
