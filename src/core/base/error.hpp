#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/base/argument.hpp"

// The errors that core reports. The PostgreSQL layer maps each class to a SQLSTATE.
namespace dpquantile {

// A parameter that the caller chose is not acceptable. The message says what was expected and what
// was given; the hint says what to do. It depends on public parameters only, never on data. With an
// argument it is about a number that may have come to its place by a wrong order of the arguments,
// so its reader is shown how they were read.
class ParameterError : public std::invalid_argument {
 public:
  ParameterError(Argument argument, const std::string& message, std::string hint)
      : std::invalid_argument(message), hint_(std::move(hint)), argument_(argument) {}
  ParameterError(const std::string& message, std::string hint)
      : ParameterError(Argument::kNone, message, std::move(hint)) {}
  const std::string& hint() const { return hint_; }
  Argument argument() const { return argument_; }

 private:
  std::string hint_;
  Argument argument_;
};

// The random source gave no random bytes. Nothing may be released.
class RandomnessUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's cancel predicate asked to stop.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// A group has more rows than a private aggregate takes.
class TooManyRows : public std::length_error {
 public:
  explicit TooManyRows(std::uint64_t most)
      : std::length_error("a private aggregate takes at most " + std::to_string(most) +
                          " rows in one group") {}
};

// A value from outside (a serialised state, a dp_cdf) is not one that this library can have
// written.
class CorruptInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dpquantile
