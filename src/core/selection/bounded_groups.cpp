#include "core/selection/bounded_groups.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>

namespace dpquantile {

namespace {

struct RankedGroup {
  std::uint64_t rank;
  std::uint32_t group;

  bool operator<(const RankedGroup& other) const {
    return std::tie(rank, group) < std::tie(other.rank, other.group);
  }
};

std::uint64_t rank_of(const SipKey& key, std::uint64_t user, std::uint64_t identity) {
  std::array<std::uint8_t, 16> message;
  for (unsigned i = 0; i < 8; ++i) message[i] = static_cast<std::uint8_t>(user >> 8 * i);
  for (unsigned i = 0; i < 8; ++i) message[8 + i] = static_cast<std::uint8_t>(identity >> 8 * i);
  return sip_hash(key, message);
}

void sort_by_user(std::span<GroupMember> members, CancelPoll& cancel) {
  std::sort(members.begin(), members.end(), [&](const GroupMember& a, const GroupMember& b) {
    cancel.tick();
    return std::tie(a.user, a.group) < std::tie(b.user, b.group);
  });
}

}  // namespace

std::pmr::vector<std::uint64_t> bounded_group_counts(std::span<GroupMember> members,
                                                     std::span<const std::uint64_t> identities,
                                                     std::uint64_t most, const SipKey& key,
                                                     const Workspace& work) {
  sort_by_user(members, work.cancel);
  std::pmr::vector<std::uint64_t> counts(identities.size(), work.memory);
  std::pmr::vector<RankedGroup> own(work.memory);
  for (std::size_t first = 0; first < members.size();) {
    own.clear();
    std::size_t end = first;
    for (; end < members.size() && members[end].user == members[first].user; ++end) {
      work.cancel.tick();
      const bool again = end > first && members[end].group == members[end - 1].group;
      if (again) continue;
      const std::uint32_t group = members[end].group;
      own.push_back({rank_of(key, members[end].user, identities[group]), group});
    }
    first = end;
    if (own.size() > most) {
      const auto limit = own.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(own.begin(), limit, own.end());
      own.erase(limit, own.end());
    }
    for (const RankedGroup& kept : own) ++counts[kept.group];
  }
  return counts;
}

}  // namespace dpquantile
