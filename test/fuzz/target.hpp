#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What the targets of the fuzzer share. A target is a function of an input. It ends in a crash if
// an invariant of the code under test does not hold; libFuzzer then keeps the input.
namespace dpquantile::fuzz {

using Target = void (*)(std::span<const std::uint8_t> input);

// Makes a target known under its name. A program of that name runs it.
struct TargetName {
  TargetName(std::string_view name, Target target);
};

// Ends the process with a message unless the invariant holds.
void require(bool invariant, const char* what);

// A double of any bits, or, more often, one that parameters usually are.
double any_double(FuzzedDataProvider& input);

}  // namespace dpquantile::fuzz
