#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/privacy/random.hpp"

// Sources of "randomness" that only tests may use. The release build has only the CSPRNG, and for
// forecasts, which see no data, public bits (core/quantiles/quantiles_error.cpp).
namespace dpquantile::test {

// Never gives a byte.
class FailingSource final : public RandomSource {
 public:
  void fill(std::span<std::byte>) override { throw RandomnessUnavailable("this source fails"); }
};

// Gives the words of a script in order, as bits64() reads them. Zero bytes fill the rest of a
// request that reaches beyond the script's end. The next request throws RandomnessUnavailable.
class ScriptedSource final : public RandomSource {
 public:
  explicit ScriptedSource(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

  void fill(std::span<std::byte> out) override {
    const auto rest = std::as_bytes(std::span(words_)).subspan(position_);
    if (rest.empty()) throw RandomnessUnavailable("the script is at its end");
    const auto part = rest.first(std::min(rest.size(), out.size()));
    std::ranges::fill(out, std::byte{0});
    std::ranges::copy(part, out.begin());
    position_ += part.size();
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t position_ = 0;
};

// The same bytes in each run of a test.
class SeededSource final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override {
    std::ranges::generate(out, [&] { return static_cast<std::byte>(generator_()); });
  }

 private:
  std::mt19937_64 generator_{1};
};

// The CSPRNG with a count of the requests.
class CountingSource final : public RandomSource {
 public:
  void fill(std::span<std::byte> out) override {
    ++requests_;
    source_.fill(out);
  }
  int requests() const { return requests_; }

 private:
  CsprngSource source_;
  int requests_ = 0;
};

}  // namespace dpquantile::test
