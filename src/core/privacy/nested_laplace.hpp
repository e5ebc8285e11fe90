#pragma once

#include <cstdint>

#include "core/privacy/noise_parameter.hpp"
#include "core/privacy/noise_table.hpp"
#include "core/privacy/random.hpp"

namespace dpquantile {

// Scales of discrete Laplace noise for a query of sensitivity 1: for all of an epsilon, for one of
// its `parts` equal parts, and for the rest without that part. Noise for the part can be drawn on
// top of noise for the whole (the idea is that of Koufogiannis, Han and Pappas, "Gradual Release of
// Sensitive Data under Differential Privacy", 2017). Whoever sees an answer with the first, and
// then the same one with the second, has spent epsilon, and not a part more.
//
// Privacy: docs/privacy.md, Lemma N1.
struct NestedScales {
  Rational whole;
  Rational part;
  Rational rest;
};

// The scales are rounded up as laplace_scale() does. Throws ParameterError as rational_epsilon()
// does. Requires 2 <= parts <= 16.
NestedScales nested_laplace_scales(double epsilon, int parts);

// Independent noise whose sum with noise of the scale `whole` has the law of the scale `part`, of
// which `part` draws. Throws what NoiseTable::draw() throws.
std::int64_t draw_more_laplace(const NoiseTable& part, int parts, RandomStream& random);

}  // namespace dpquantile
