#pragma once

#include <cstdint>
#include <span>

#include "core/privacy/privacy_parameter.hpp"

// How far noise takes an answer: functions of the public law of the noise. A spread is the scale of
// Laplace noise (under epsilon) or the sigma of Gaussian noise (under rho), as IntegerNoise has it.
namespace dpquantile {

// The most terms of a sum.
inline constexpr int kMostNoiseTerms = 3;

// A t that |S| exceeds with a probability of at most `tail`, where S is a sum of 1 to
// kMostNoiseTerms independent noises with these spreads (their signs do not matter). t is at most
// half a percent above the least one. Laplace noise with distinct scales a_i has
//
//   P(|S| > t) = sum over i of e^(-t / a_i) prod over j != i of a_i^2 / (a_i^2 - a_j^2).
//
// Scales that are too close to each other are made larger first. This can only make |S| larger in
// law (docs/privacy.md, "Errors of moments"). Requires 0 < tail < 1.
double noise_quantile(PrivacyMeasure measure, std::span<const double> spreads, double tail);

// The mean of |S|, at most half a percent above the true one.
double mean_noise(PrivacyMeasure measure, std::span<const double> spreads);

// The mean of |S| after S is rounded to the nearest whole number: far below mean_noise() if the
// noise is small. At most half a percent above the true one for spreads from 1/2 on; for smaller
// ones it is above by a larger part of less.
double mean_rounded_noise(PrivacyMeasure measure, std::span<const double> spreads);

// The mean magnitude of integer noise of this spread: discrete Laplace or discrete Gaussian.
double mean_integer_noise(PrivacyMeasure measure, double spread);

// The least t, or for Gaussian noise one that is at most 1 larger, that integer noise of this
// spread exceeds in magnitude with a probability of at most `tail` (for Gaussian noise by CKS20,
// Proposition 25).
std::uint64_t integer_noise_quantile(PrivacyMeasure measure, double spread, double tail);

}  // namespace dpquantile
