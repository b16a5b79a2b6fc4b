// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/functional.h"

#include "core/random_stream.h"

#include <fmt/format.h>

#include <algorithm>
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

/// Largest magnitudes of the block that begins there, added over the members.
double block_magnitude(
    const std::vector<std::vector<float>>& buffers, std::size_t first, std::size_t length) {
    double sum = 0;
    for (const auto& buffer : buffers) {
        double largest = 0;
        for (std::size_t i = first; i < std::min(first + length, buffer.size()); ++i)
            largest = std::max(largest, std::fabs(static_cast<double>(buffer[i])));
        sum += largest;
    }
    return sum;
}

/// The member whose values a member receives; itself if it only sends.
std::size_t sender_to(const CollectiveSpec& spec, std::size_t member) {
    if (spec.root != CollectiveSpec::kEveryRank)
        return spec.root;
    return (member + spec.ranks.size() - 1) % spec.ranks.size();
}

}  // namespace

double
quantised_bound(const OperandFormat& format, Accumulation accumulation, std::size_t members) {
    const auto n = static_cast<double>(members);
    const bool at_gpu = format.quantised.at == QuantisedAt::kGpu;
    const bool narrow_adders = accumulation == Accumulation::kElement;
    // How often a number is quantised on its way, and how finely the adders round.
    const double times = !at_gpu ? 1 : narrow_adders ? n : 2;
    const double adder =
        !at_gpu && narrow_adders ? rounding(format.type) : rounding(ElementType::kFloat32);
    return std::pow(1 + quantisation_step(format.quantised), times) * (1 + n * adder) - 1;
}

void QuantisedError::add(
    const CollectiveSpec& spec, const std::vector<std::vector<float>>& before,
    const std::vector<std::vector<float>>& after) {
    const std::size_t block = spec.format().quantised.block;
    bound = std::max(bound, quantised_bound(spec.format(), spec.accumulation, before.size()));
    double magnitude = 0;
    for (std::size_t i = 0; i < before.front().size(); ++i) {
        if (i % block == 0)
            magnitude = block_magnitude(before, i, block);
        double exact = 0;
        for (const auto& buffer : before)
            exact += buffer[i];
        const double error = std::fabs(after.front()[i] - exact);
        worst = std::max(worst, magnitude > 0 ? error / magnitude : 0);
        squares += error * error;
        exact_squares += exact * exact;
    }
}

std::string QuantisedError::words(const Quantisation& quantised) const {
    return fmt::format(
        "{} at the {}: sums are off by {:.3g} % (root mean square, of that of the sums), the worst "
        "by {:.3g} % of its block's largest operands added up, where {:.3g} % are possible",
        enum_name(quantised.format), enum_name(quantised.at),
        100 * std::sqrt(squares / std::max(exact_squares, 1e-300)), 100 * worst, 100 * bound);
}

std::string check_values(
    const CollectiveSpec& spec, const std::vector<std::vector<float>>& before,
    const std::vector<std::vector<float>>& after) {
    const std::size_t members = before.size();
    const std::size_t count = before.front().size();
    const std::size_t share = spec.share() / spec.element_bytes;
    const OperandFormat format = spec.format();
    const bool narrow = spec.kind == CollectiveKind::kAllReduce && format.quantised.used();
    const double most = narrow ? quantised_bound(format, spec.accumulation, members) : 0;
    double block = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (narrow && i % format.quantised.block == 0)
            block = block_magnitude(before, i, format.quantised.block);
        double exact = 0;
        double magnitude = 0;
        for (const auto& buffer : before) {
            exact += buffer[i];
            magnitude += std::fabs(buffer[i]);
        }
        const double tolerance =
            narrow ? most * block
                   : magnitude * rounding(spec.element) * static_cast<double>(members);
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
