// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/deepep_normal.h"
#include "models/collectives/experts/row_copies.h"

namespace switchfold {

namespace {

/// A sender's warps scan all tokens of the channel and copy those for the receiver. The receiver's
/// warps for that sender poll its tail, copy available tokens to the output, and advance the head.
class DeepepDispatch final : public RowCopies {
public:
    DeepepDispatch(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        RowCopies(environment, spec, listener, deepep_shape(environment.params.experts, spec)) {}

private:
    [[nodiscard]] std::uint64_t copy_time(const TokenFlow& f) const override {
        return turns(f.chunk) * sender_row_time(params_, row_, false) +
               scanned(f) * params_.scan.count();
    }
    [[nodiscard]] std::uint64_t receive_time(std::uint64_t tokens) const override {
        return turns(tokens) * receiver_row_time(params_, row_);
    }
    /// Tokens scanned when the sender has found those of the chunk; after the last chunk it scans
    /// to the channel's end.
    [[nodiscard]] std::uint64_t scanned(const TokenFlow& f) const {
        const auto tokens = routing_.tokens_to(f.from, f.to);
        const TokenRange part = channel_tokens(routing_.tokens(f.from), channels_, f.channel);
        const auto before = [&](std::uint32_t index) {
            return index == 0 ? part.first : tokens[f.range.first + index - 1] + 1;
        };
        const std::uint32_t end = f.begun + f.chunk;
        return (end == f.range.count ? part.first + part.count : before(end)) - before(f.begun);
    }
};

}  // namespace

RingShape deepep_shape(const ExpertsParams& params, const CollectiveSpec& spec) {
    const bool combine = spec.kind == CollectiveKind::kMoeCombine;
    const ExpertPayload payload = combine ? ExpertPayload::kBfloat16 : spec.experts->payload;
    return {
        spec.choice.channels / 2,
        static_cast<std::uint32_t>(spec.choice.of<ExpertsConfig>().chunk),
        params.ring_tokens,
        token_bytes(payload, spec.experts->hidden).all(),
        false,
        combine ? params.combine_start : params.dispatch_start};
}

std::uint64_t sender_row_time(const ExpertsParams& params, TokenBytes row, bool combine) {
    constexpr std::uint64_t kWarpLoad = 512;  // 32 threads, 16 bytes each
    constexpr std::uint64_t kScales = 32;     // scales that the threads of a warp load at once
    const std::uint64_t unrolled = kWarpLoad * (combine ? 4 : 5);
    const std::uint64_t scales = row.scales / sizeof(float);
    return params.row_overhead.count() + params.copy_round.count() * row.elements / unrolled +
           params.scale_round.count() * ((scales + kScales - 1) / kScales);
}

std::uint64_t receiver_row_time(const ExpertsParams& params, TokenBytes row) {
    constexpr std::uint64_t kScales = 32;
    constexpr std::uint64_t kHalves = 2;
    const std::uint64_t scales = row.scales / sizeof(float);
    return params.row_overhead.count() + kHalves * params.copy_round.count() +
           params.scale_round.count() * ((scales + kScales - 1) / kScales);
}

std::unique_ptr<RunningCollective> make_deepep_dispatch(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<DeepepDispatch>(environment, spec, listener);
}

}  // namespace switchfold
