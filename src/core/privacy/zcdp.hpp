#pragma once

// Zero-concentrated differential privacy (zCDP): what a mechanism costs in rho, and what rho is
// worth in (epsilon, delta). Costs and worths are rounded upwards, so that they stay valid bounds.
// Statements and proofs: docs/privacy.md, "zCDP".
namespace dpquantile {

// The rho of any epsilon-differentially private mechanism: epsilon tanh(epsilon / 2), which is at
// most epsilon^2 / 2 (Bun, Steinke 2016, Proposition 3.3, has the Renyi divergences). Requires
// epsilon >= 0.
double rho_of_pure(double epsilon);

// The rho of an epsilon-bounded-range mechanism: epsilon^2 / 8 (Cesar, Rogers 2021). Requires
// epsilon >= 0.
double rho_of_bounded_range(double epsilon);

// The largest epsilon, rounded down, with rho_of_bounded_range(epsilon) <= rho. Requires rho >= 0.
double bounded_range_of_rho(double rho);

// An epsilon for which rho-zCDP implies (epsilon, delta)-differential privacy: the minimum over
// alpha > 1 of Canonne, Kamath, Steinke 2020, Proposition 12, and at least 0. Requires rho >= 0 and
// 0 < delta < 1; std::invalid_argument otherwise.
double epsilon_of_zcdp(double rho, double delta);

// The largest rho, up to rounding down, with epsilon_of_zcdp(rho, delta) <= epsilon, or that for
// 1e9 if epsilon is larger; 0 if there is none. Requires epsilon >= 0 and 0 < delta < 1;
// std::invalid_argument otherwise.
double rho_within(double epsilon, double delta);

}  // namespace dpquantile
