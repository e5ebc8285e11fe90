#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

// The failures that core reports. The PostgreSQL layer translates each class into a SQLSTATE.
namespace dpquantile {

// A parameter that the caller chose is not acceptable. The message says what was expected and what
// came, the hint what to do. Raised from public parameters only, never from data.
class ParameterError : public std::invalid_argument {
 public:
  ParameterError(const std::string& message, std::string hint)
      : std::invalid_argument(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// The CSPRNG gave no randomness. Nothing may be released.
class RandomnessUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's cancel predicate asked to stop.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// More rows than a group may have.
class TooManyRows : public std::length_error {
 public:
  explicit TooManyRows(std::uint64_t most)
      : std::length_error("a private aggregate takes at most " + std::to_string(most) +
                          " rows in one group") {}
};

// A value from outside (a serialised state, a dp_cdf) is not one that this library writes.
class CorruptInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dpquantile
