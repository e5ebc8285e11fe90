#pragma once

// Zero-concentrated differential privacy (zCDP): the cost of a mechanism in rho, and the
// (epsilon, delta) that rho implies. Results are rounded to the safe side, so that they stay valid
// bounds: a cost and an implied epsilon upwards, a parameter that may be spent downwards.
// Statements and proofs: docs/privacy.md, "zCDP".
namespace dpquantile {

// The rho of any epsilon-differentially private mechanism: epsilon tanh(epsilon / 2), which is at
// most epsilon^2 / 2 (Lemma Z1; Bun, Steinke 2016, Proposition 3.3, has the Renyi divergences).
// Requires epsilon >= 0.
double rho_of_pure(double epsilon);

// The rho of discrete Laplace noise of scale sensitivity / epsilon on an integer query: a little
// above epsilon + e^-epsilon - 1, the value for real Laplace noise (Lemma Z1b). It is rho_of_pure()
// at most if the sensitivity is large, and may exceed it if the sensitivity is small. Requires
// epsilon >= 0 and sensitivity >= 1.
double rho_of_laplace(double epsilon, double sensitivity);

// The rho of an epsilon-bounded-range mechanism: epsilon^2 / 8 (Lemma Z2; Cesar, Rogers 2021).
// Requires epsilon >= 0.
double rho_of_bounded_range(double epsilon);

// The largest epsilon, rounded down, with rho_of_bounded_range(epsilon) <= rho. Requires rho >= 0.
double bounded_range_of_rho(double rho);

// An epsilon for which rho-zCDP implies (epsilon, delta)-differential privacy: the minimum over
// alpha > 1 of Canonne, Kamath, Steinke 2020, Proposition 12, and at least 0 (Lemma Z4). Throws
// std::invalid_argument unless rho >= 0 and 0 < delta < 1.
double epsilon_of_zcdp(double rho, double delta);

// The largest rho, rounded down, with epsilon_of_zcdp(rho, delta) <= epsilon; 0 if there is none.
// An epsilon above 1e9 counts as 1e9. Throws std::invalid_argument unless epsilon >= 0 and
// 0 < delta < 1.
double rho_within(double epsilon, double delta);

}  // namespace dpquantile
