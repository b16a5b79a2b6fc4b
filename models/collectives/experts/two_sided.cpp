// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/two_sided.h"

#include "models/collectives/experts/row_copies.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

constexpr std::uint32_t kRanksOfBlocks = 8;
constexpr std::uint32_t kPiecesOfEntry = 4;  // at least, sent separately
constexpr std::uint32_t kPiecesOfFlow = 32;  // at least

/// A token's bytes in lines of 128 bytes with 120 bytes of data.
std::uint64_t in_lines(std::uint64_t bytes) {
    constexpr std::uint64_t kData = 120;
    constexpr std::uint64_t kLine = 128;
    return (bytes + kData - 1) / kData * kLine;
}

RingShape exchange_shape(const ExpertsParams& params, const CollectiveSpec& spec) {
    const bool combine = spec.kind == CollectiveKind::kMoeCombine;
    const ExpertPayload payload = combine ? ExpertPayload::kBfloat16 : spec.experts->payload;
    RingShape shape;
    shape.channels =
        two_sided_channels(spec.choice.channels, static_cast<std::uint32_t>(spec.ranks.size()));
    shape.row = in_lines(token_bytes(payload, spec.experts->hidden).all());
    const auto entry = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, params.fifo_slot.count() / shape.row));
    // Lines are used on arrival: chunks are smaller than a buffer entry, and small relative to the
    // whole.
    shape.chunk = std::clamp(
        spec.experts->tokens / shape.channels / kPiecesOfFlow, 1U,
        std::max(1U, entry / kPiecesOfEntry));
    shape.places = std::max(2U, entry * params.fifo_slots);
    shape.lines = true;
    shape.start = params.two_sided_start;
    return shape;
}

/// TensorRT-LLM's two-sided all-to-all (fusedMoeCommKernels): the warps of a channel and pair
/// gather a token's fields in shared memory, pack them into lines with flags, and store these into
/// the receiver's FIFO; the receiver polls the lines and unpacks them. A combine returns the copies
/// without adding them.
class TwoSided final : public RowCopies {
public:
    TwoSided(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        RowCopies(environment, spec, listener, exchange_shape(environment.params.experts, spec)) {
        for (std::uint32_t rank = 0; functional_ && combine_ && rank < n_; ++rank)
            results_[rank].resize(routing_.sent(rank) * kTokenNumbers);
    }
    [[nodiscard]] std::string wrong_result() const override {
        if (!combine_)
            return RowCopies::wrong_result();
        for (std::uint32_t rank = 0; rank < n_; ++rank) {
            auto at = results_[rank].begin();
            for (std::uint32_t from = 0; from < n_; ++from)
                for (const std::uint32_t token : routing_.tokens_to(rank, from)) {
                    const std::vector<float> expected = token_numbers(rank, token, from);
                    if (!std::equal(expected.begin(), expected.end(), at))
                        return fmt::format(
                            "token {} of rank {} is not what came from rank {}", token, rank, from);
                    at += static_cast<std::ptrdiff_t>(kTokenNumbers);
                }
        }
        return {};
    }

private:
    [[nodiscard]] std::uint64_t time_of(std::uint64_t tokens) const {
        return tokens * params_.two_sided_row.count() +
               serialization_time(Bytes(tokens * row_.all()), params_.two_sided_rate).count();
    }
    [[nodiscard]] std::uint64_t copy_time(const TokenFlow& f) const override {
        return time_of(f.chunk);
    }
    [[nodiscard]] std::uint64_t receive_time(std::uint64_t tokens) const override {
        return time_of(tokens);
    }
};

}  // namespace

std::uint32_t two_sided_blocks(std::uint32_t sms) {
    return std::max(2U, sms / 2);
}

std::uint32_t two_sided_channels(std::uint32_t blocks, std::uint32_t ranks) {
    const std::uint32_t of_channel = 2 * ((ranks + kRanksOfBlocks - 1) / kRanksOfBlocks);
    return std::max(1U, blocks / of_channel);
}

std::unique_ptr<RunningCollective> make_two_sided(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<TwoSided>(environment, spec, listener);
}

}  // namespace switchfold
