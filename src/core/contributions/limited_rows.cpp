#include "core/contributions/limited_rows.hpp"

#include <algorithm>
#include <bit>
#include <memory_resource>
#include <utility>
#include <vector>

#include "core/base/as_size.hpp"
#include "core/base/vector_hash.hpp"

namespace dpquantile {

namespace {

// ---- Users ---------------------------------------------------------------------------------

// Numbers users by their first rows, and counts the rows of each.
class UserCounts {
 public:
  explicit UserCounts(std::pmr::memory_resource* memory)
      : places_(kFirstPlaces, Place{}, memory), counts_(memory) {}

  // Counts a row of the user. Returns the user's number.
  std::size_t add(std::uint64_t user) {
    std::size_t at = find(user);
    if (places_[at].number == 0) {
      if (4 * (counts_.size() + 1) > places_.size()) {
        grow();
        at = find(user);
      }
      counts_.push_back(0);
      places_[at] = {user, counts_.size()};
    }
    const std::size_t number = places_[at].number - 1;
    ++counts_[number];
    return number;
  }

  std::span<std::size_t> counts() { return counts_; }

 private:
  struct Place {
    std::uint64_t user;
    std::size_t number;  // plus 1; 0 if the place is free
  };
  using Places = std::pmr::vector<Place>;

  static constexpr std::size_t kFirstPlaces = 64;

  // The place of the user, or the free one where it belongs.
  std::size_t find(std::uint64_t user) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = static_cast<std::size_t>(user) & mask;
    while (places_[at].number != 0 && places_[at].user != user) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    const Places old =
        std::exchange(places_, Places(2 * places_.size(), Place{}, places_.get_allocator()));
    for (const Place& place : old) {
      if (place.number != 0) places_[find(place.user)] = place;
    }
  }

  Places places_;  // a power of two, at least three quarters of them free
  std::pmr::vector<std::size_t> counts_;
};

// ---- The sample of a user ------------------------------------------------------------------

// Samples one user after the other, with the same memory.
class RowSample {
 public:
  RowSample(std::uint64_t most, std::span<RowChoice> choices, const Workspace& work)
      : most_(most),
        choices_(choices),
        cancel_(work.cancel),
        seen_(work.memory),
        ranks_(work.memory),
        in_bucket_(work.memory),
        edge_(work.memory) {}

  void choose(std::span<const HashedRow> own) {
    rank(own);
    const auto [edge, before] = bucket_of_edge();
    // Which of the two it is cannot be predicted, so it must be no branch.
    for (std::size_t i = 0; i < own.size(); ++i) {
      static_assert(static_cast<int>(RowChoice::kChosen) == 1);
      choices_[own[i].row] = static_cast<RowChoice>(bucket_of(ranks_[i]) < edge);
    }
    edge_.clear();
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (bucket_of(ranks_[i]) == edge) edge_.push_back({{ranks_[i], own[i].hash.low}, own[i].row});
    }
    choose_at_edge(before);
  }

 private:
  // How often a hash has been seen of the user with this number
  struct Seen {
    VectorHash hash;
    std::uint64_t user;
    std::uint64_t times;
  };
  struct RankedRow {
    VectorHash rank;
    std::size_t row;
  };

  // A row whose hash is (high, low), the number-th of its user with this hash, has the rank
  // (scattered(high + number * kStep), low). The numbers of a hash give different ranks. Whatever
  // another user keeps, the hashes of this one are shifted by a uniform number, so the order of the
  // ranks is a new one.
  void rank(std::span<const HashedRow> own) {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;  // odd
    const std::size_t buckets = std::bit_ceil(own.size());
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(buckets));
    in_bucket_.assign(buckets, 0);
    ranks_.resize(own.size());
    if (seen_.size() < 2 * buckets) seen_.resize(2 * buckets, Seen{});
    ++user_;
    for (std::size_t i = 0; i < own.size(); ++i) {
      cancel_.tick();
      const VectorHash& hash = own[i].hash;
      ranks_[i] = scattered(hash.high + number_of(hash) * kStep);
      ++in_bucket_[bucket_of(ranks_[i])];
    }
  }

  // 0 for the first row with this hash
  std::uint64_t number_of(const VectorHash& hash) {
    const std::size_t mask = seen_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash.low) & mask;
    for (; seen_[at].user == user_; at = (at + 1) & mask) {
      if (seen_[at].hash == hash) return seen_[at].times++;
    }
    seen_[at] = {hash, user_, 1};
    return 0;
  }

  // Users have at least two rows, so the shift is below 64.
  std::size_t bucket_of(std::uint64_t rank) const {
    return static_cast<std::size_t>(rank >> shift_);
  }

  struct Edge {
    std::size_t bucket;
    std::size_t rows_before;
  };

  // The bucket in which the last of the smallest ranks is.
  Edge bucket_of_edge() const {
    Edge edge{};
    while (edge.rows_before + in_bucket_[edge.bucket] < most_) {
      edge.rows_before += in_bucket_[edge.bucket++];
    }
    return edge;
  }

  void choose_at_edge(std::size_t before) {
    const std::size_t wanted = as_size(most_ - before);
    std::nth_element(edge_.begin(), edge_.begin() + static_cast<std::ptrdiff_t>(wanted - 1),
                     edge_.end(),
                     [](const RankedRow& a, const RankedRow& b) { return a.rank < b.rank; });
    for (std::size_t i = 0; i < wanted; ++i) choices_[edge_[i].row] = RowChoice::kChosen;
  }

  std::uint64_t most_;
  std::span<RowChoice> choices_;
  CancelPoll& cancel_;
  std::pmr::vector<Seen> seen_;  // a power of two, at least half of them of other users
  std::uint64_t user_ = 0;
  std::pmr::vector<std::uint64_t> ranks_;
  // Rows in each bucket of ranks. There are as many buckets as rows, so each has few.
  std::pmr::vector<std::size_t> in_bucket_;
  unsigned shift_ = 0;
  std::pmr::vector<RankedRow> edge_;
};

}  // namespace

BeyondLimit count_rows_of_users(std::span<std::uint64_t> users, std::uint64_t most,
                                std::span<std::size_t> places, std::span<std::size_t> counts,
                                const Workspace& work) {
  UserCounts table(work.memory);
  for (std::uint64_t& user : users) {
    work.cancel.tick();
    user = table.add(user);
  }
  BeyondLimit beyond{};
  std::size_t number = 0;
  for (const std::size_t count : table.counts()) {
    places[number++] = count > most ? beyond.rows : kWithinLimit;
    if (count <= most) continue;
    beyond.rows += count;
    counts[beyond.users++] = count;
  }
  return beyond;
}

void choose_beyond_limit(std::span<const HashedRow> rows, std::span<const std::size_t> counts,
                         std::uint64_t most, std::span<RowChoice> choices, const Workspace& work) {
  RowSample sample(most, choices, work);
  for (const std::size_t count : counts) {
    sample.choose(rows.first(count));
    rows = rows.subspan(count);
  }
}

// ---- Counts --------------------------------------------------------------------------------

namespace {

constexpr std::size_t kFirstPlaces = 256;
// A user's place is fetched so many rows before it is needed.
constexpr std::size_t kAhead = 16;

}  // namespace

LimitedCounts::LimitedCounts(std::uint64_t most, std::size_t bytes, std::uint64_t secret,
                             std::pmr::memory_resource* memory)
    : most_(static_cast<std::uint32_t>(std::min<std::uint64_t>(most, ~std::uint32_t{0}))),
      secret_(secret),
      most_places_(std::bit_floor(std::max(bytes / sizeof(Place), kFirstPlaces))),
      places_(kFirstPlaces, Place{}, memory) {}

// The place of the user, or the free one where it belongs.
std::size_t LimitedCounts::find(std::uint64_t user) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = static_cast<std::size_t>(user) & mask;
  while (places_[at].rows != 0 && places_[at].user != user) at = (at + 1) & mask;
  return at;
}

std::size_t LimitedCounts::most_users() const {
  const std::size_t places = places_.size();
  return places / 2 + static_cast<std::size_t>(scattered(secret_ ^ places) % (places / 4));
}

// Whether there is room for another user.
bool LimitedCounts::has_room() {
  if (users_ < most_users()) return true;
  if (2 * places_.size() > most_places_) return false;
  const Places old =
      std::exchange(places_, Places(2 * places_.size(), Place{}, places_.get_allocator()));
  for (const Place& place : old) {
    if (place.rows != 0) places_[find(place.user)] = place;
  }
  return true;
}

std::size_t LimitedCounts::count(std::span<std::uint64_t> users, CancelPoll& cancel) {
  cancel.tick(users.size());
  std::size_t without_room = 0;
  for (std::size_t i = 0; i < users.size(); ++i) {
    if (i + kAhead < users.size()) {
      const auto ahead = static_cast<std::size_t>(users[i + kAhead]);
      __builtin_prefetch(&places_[ahead & (places_.size() - 1)], 1);
    }
    Place* place = &places_[find(users[i])];
    if (place->rows == 0) {
      if (!has_room()) {
        users[without_room++] = users[i];
        continue;
      }
      place = &places_[find(users[i])];
      place->user = users[i];
      ++users_;
    }
    if (place->rows == most_) continue;
    ++place->rows;
    ++total_;
  }
  return without_room;
}

}  // namespace dpquantile
