#pragma once

namespace dpquantile {

// How far a release may be off, in rows. `*_fraction_rows` divided by the released number of rows,
// n^, bounds the error of a fraction: with F_k and n the true counts, |F^_k - F_k / n * n^| is at
// most `*_fraction_rows`.
struct CdfError {
  double point;                     // of one prefix count, for a bin chosen at random
  double point_fraction_rows;       // the same for fractions
  double everywhere;                // of all prefix counts at once
  double everywhere_fraction_rows;  // the same for fractions
};

}  // namespace dpquantile
