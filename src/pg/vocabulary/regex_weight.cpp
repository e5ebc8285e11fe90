#include "pg/vocabulary/regex_weight.hpp"

#include <algorithm>

namespace dpquantile {

namespace {

constexpr int kMostStates = 64;
constexpr int kMostDepth = 16;

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

bool is_in(char character, std::string_view characters) {
  return characters.find(character) != std::string_view::npos;
}

// A part of a pattern; it has more states than there may be where it is not supported.
struct Part {
  int states;
  int choices;      // what may be left out, and alternatives
  bool has_anchor;  // ^ or $, which repeated take more states than they seem to
};

constexpr Part kUnsupported = {kMostStates + 1, 0, false};

Part both(const Part& one, const Part& other) {
  if (one.states + other.states > kMostStates) return kUnsupported;
  return {one.states + other.states, one.choices + other.choices,
          one.has_anchor || other.has_anchor};
}

class Reader {
 public:
  explicit Reader(std::string_view pattern) : pattern_(pattern) {}

  int weight() {
    const Part all = alternatives(0);
    if (!at_end() || all.states > kMostStates) return 0;
    return std::max(all.states, 1) * (all.choices + 1);
  }

 private:
  bool at_end() const { return next_ == pattern_.size(); }
  char peek() const { return at_end() ? '\0' : pattern_[next_]; }
  char take() { return at_end() ? '\0' : pattern_[next_++]; }

  bool skip(std::string_view text) {
    const bool is_there = pattern_.substr(next_).starts_with(text);
    if (is_there) next_ += text.size();
    return is_there;
  }

  Part alternatives(int depth) {
    Part all = branch(depth);
    while (skip("|")) all = both(all, both({1, 1, false}, branch(depth)));
    return all;
  }

  Part branch(int depth) {
    Part all = {0, 0, false};
    while (!at_end() && !is_in(peek(), "|)") && all.states <= kMostStates) {
      all = both(all, repeated(atom(depth)));
    }
    return all;
  }

  Part atom(int depth) {
    const char character = take();
    switch (character) {
      case '(':
        return group(depth);
      case '[':
        return bracket();
      case '\\':
        return escape() ? Part{1, 0, false} : kUnsupported;
      case '^':
      case '$':
        return {1, 0, true};
      case '*':
      case '+':
      case '?':
      case '{':
      case '\0':
        return kUnsupported;
      default:
        return {1, 0, false};
    }
  }

  Part group(int depth) {
    if (depth == kMostDepth || (peek() == '?' && !skip("?:"))) return kUnsupported;
    const Part inner = alternatives(depth + 1);
    return skip(")") ? inner : kUnsupported;
  }

  Part bracket() {
    (void)skip("^");
    for (bool is_first = true; is_first || peek() != ']'; is_first = false) {
      if (at_end() || !bracket_item()) return kUnsupported;
    }
    next_ += 1;
    return {1, 0, false};
  }

  // A character, or a class: [:alpha:]. [[:<:]] and [[:>:]] are word boundaries.
  bool bracket_item() {
    const char character = take();
    if (character == '\\') return escape();
    if (character != '[' || !is_in(peek(), ":.=")) return character != '\0';
    if (!skip(":")) return false;
    while (is_letter(peek())) next_ += 1;
    return skip(":]");
  }

  bool escape() {
    const char character = take();
    if (is_letter(character)) return is_in(character, "dDwWsS");
    return character != '\0' && !is_digit(character);
  }

  Part repeated(const Part& part) {
    if (at_end() || !is_in(peek(), "*+?{")) return part;
    const char repeats = take();
    int least = repeats == '+' ? 1 : 0;
    int most = 1;
    if (repeats == '{' && !bounds(&least, &most)) return kUnsupported;
    (void)skip("?");
    if (part.has_anchor || (!at_end() && is_in(peek(), "*+?{"))) return kUnsupported;
    if (part.states * most >= kMostStates) return kUnsupported;
    return {part.states * most + 1, part.choices * most + most - std::min(least, most), false};
  }

  // {m}, {m,} or {m,n}, of which the first character is read: how many copies it makes at least and
  // at most.
  bool bounds(int* least, int* most) {
    *least = number();
    *most = *least;
    if (skip(",")) *most = is_digit(peek()) ? number() : *least + 1;
    *most = std::max(*most, 1);
    return *least >= 0 && skip("}");
  }

  int number() {
    if (!is_digit(peek())) return -1;
    int value = 0;
    while (is_digit(peek())) value = std::min(10 * value + (take() - '0'), kUnsupported.states);
    return value;
  }

  std::string_view pattern_;
  std::size_t next_ = 0;
};

}  // namespace

int regex_weight(std::string_view pattern) {
  constexpr std::size_t kMostBytes = 1024;
  return pattern.size() <= kMostBytes ? Reader(pattern).weight() : 0;
}

}  // namespace dpquantile
