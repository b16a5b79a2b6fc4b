// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/functional.h"

#include "core/random_stream.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace switchfold {

namespace {

/// Half a unit in the last place, relative.
double rounding(ElementType type) {
    switch (type) {
    case ElementType::kFloat16:
        return 0x1p-11;
    case ElementType::kBfloat16:
        return 0x1p-8;
    case ElementType::kFloat32:
        break;
    }
    return 0x1p-24;
}

bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

std::vector<std::vector<float>>
make_values(std::uint64_t seed, std::size_t members, std::size_t count, ElementType type) {
    RandomStream random(seed, "collective values");
    std::vector<std::vector<float>> buffers(members, std::vector<float>(count));
    for (auto& buffer : buffers)
        for (float& value : buffer) {
            const auto whole = static_cast<std::int64_t>(random.next() >> 40U) - (1LL << 23U);
            value = round_to(type, static_cast<float>(whole) * 0x1p-20F);
        }
    return buffers;
}

namespace {

/// Whether an all-to-all leaves this value at element `i` of a member's result. What no part of
/// those that differ fills stays as it was.
bool is_exchanged(
    const CollectiveSpec& spec, const std::vector<std::vector<float>>& before, std::size_t member,
    std::size_t i, float value) {
    const std::size_t share = spec.share() / spec.element_bytes;
    if (share == 0 || i / share >= before.size())
        return true;
    const std::size_t from = i / share;
    const auto part = [&] {
        return spec.parts->at(
                   static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(member)) /
               spec.element_bytes;
    };
    if (spec.parts != nullptr && i % share >= part())
        return same(value, before[member][i]);
    return same(value, before[from][member * share + i % share]);
}

/// The member whose values a member receives; itself if it only sends.
std::size_t sender_to(const CollectiveSpec& spec, std::size_t member) {
    if (spec.root != CollectiveSpec::kEveryRank)
        return spec.root;
    return (member + spec.ranks.size() - 1) % spec.ranks.size();
}

}  // namespace

std::string check_values(
    const CollectiveSpec& spec, const std::vector<std::vector<float>>& before,
    const std::vector<std::vector<float>>& after) {
    const std::size_t members = before.size();
    const std::size_t count = before.front().size();
    const std::size_t share = spec.share() / spec.element_bytes;
    for (std::size_t i = 0; i < count; ++i) {
        double exact = 0;
        double magnitude = 0;
        for (const auto& buffer : before) {
            exact += buffer[i];
            magnitude += std::fabs(buffer[i]);
        }
        const double tolerance = magnitude * rounding(spec.element) * static_cast<double>(members);
        for (std::size_t m = 0; m < members; ++m) {
            bool good = true;
            switch (spec.kind) {
            case CollectiveKind::kAllReduce:
                good =
                    same(after[m][i], after[0][i]) && std::fabs(after[m][i] - exact) <= tolerance;
                break;
            case CollectiveKind::kReduceScatter:
                good = share == 0 || i / share != m || std::fabs(after[m][i] - exact) <= tolerance;
                break;
            case CollectiveKind::kAllGather:
                good =
                    share == 0 || i / share >= members || same(after[m][i], before[i / share][i]);
                break;
            case CollectiveKind::kBroadcast:
                good = same(after[m][i], before[spec.root][i]);
                break;
            case CollectiveKind::kSendReceive:
                good = same(after[m][i], before[sender_to(spec, m)][i]);
                break;
            case CollectiveKind::kGather:
                good = m != spec.root || share == 0 || i / share >= members ||
                       same(after[m][i], before[i / share][i]);
                break;
            case CollectiveKind::kScatter:
                good = share == 0 || i / share != m || same(after[m][i], before[spec.root][i]);
                break;
            case CollectiveKind::kReduce:
                good = m != spec.root || std::fabs(after[m][i] - exact) <= tolerance;
                break;
            case CollectiveKind::kMoeDispatch:  // checked by wrong_result()
            case CollectiveKind::kMoeCombine:
                break;
            case CollectiveKind::kAllToAll:
                good = is_exchanged(spec, before, m, i, after[m][i]);
                break;
            }
            if (!good)
                return fmt::format(
                    "element {} is {} at member {}; expected {}", i, after[m][i], m, exact);
        }
    }
    return {};
}

}  // namespace switchfold
