#include "adversary/search.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <span>

namespace dpquantile::adversary {

namespace {

// A mechanism asks after every 2^16 elements of work.
int questions_left = 0;

bool is_out_of_work() {
  return --questions_left < 0;
}

}  // namespace

void RepeatableSource::fill(std::span<std::byte> out) {
  for (std::size_t at = 0; at < out.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = generator_();
    std::memcpy(out.data() + at, &word, std::min(sizeof word, out.size() - at));
  }
}

Search::Search(std::uint64_t seed, double false_alarm)
    : shapes_(seed), source_(~seed), context_(source_, is_out_of_work), false_alarm_(false_alarm) {
  allow_work();
}

void Search::allow_work(int questions) {
  questions_left = questions;
}

// 1 / (1 2) + 1 / (2 3) + .. is 1.
double Search::next_false_alarm() {
  const auto i = static_cast<double>(++tests_);
  return false_alarm_ / (i * (i + 1));
}

std::string text(const char* format, ...) {
  char buffer[2000];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

}  // namespace dpquantile::adversary
