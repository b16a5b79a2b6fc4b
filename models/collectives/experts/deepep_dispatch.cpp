// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/deepep_normal.h"
#include "models/collectives/experts/ring_buffers.h"

namespace switchfold {

namespace {

/// A sender's warps go through all tokens of the channel and copy those that the receiver wants.
/// The receiver's warps for a sender poll its tail, copy what is there into the output, and move
/// the head.
class DeepepDispatch final : public RingBuffers {
public:
    DeepepDispatch(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener) :
        RingBuffers(environment, spec, listener), rows_(std::size_t{n_} * n_), taken_(flows_.size()) {
        for (const TokenFlow& f : flows_)
            if (f.range.count > 0)
                add_part(f.to);
        for (std::uint32_t to = 0; to < n_; ++to) {
            std::uint64_t row = 0;
            for (std::uint32_t from = 0; from < n_; ++from) {
                rows_[std::size_t{to} * n_ + from] = row;
                row += routing_.tokens_to(from, to).size();
            }
        }
    }

private:
    [[nodiscard]] std::uint64_t copy_time(const TokenFlow& f) const override {
        const std::uint64_t each =
            (f.chunk + std::uint64_t{warps_of_flow()} - 1) / warps_of_flow();
        return each * sender_row_time(params_, row_, false) + scanned(f) * params_.scan.count();
    }
    /// Tokens that the sender has looked at when it has found those of the chunk; after its last
    /// one it goes on to the channel's end.
    [[nodiscard]] std::uint64_t scanned(const TokenFlow& f) const {
        const auto tokens = routing_.tokens_to(f.from, f.to);
        const TokenRange part = channel_tokens(routing_.tokens(), channels_, f.channel);
        const auto before = [&](std::uint32_t index) {
            return index == 0 ? part.first : tokens[f.range.first + index - 1] + 1;
        };
        const std::uint32_t end = f.begun + f.chunk;
        return (end == f.range.count ? part.first + part.count : before(end)) - before(f.begun);
    }
    void on_tail(TokenFlow& f) override {
        if (!f.receiving)
            receive(f, now() + params_.poll.count());
    }
    void receive(TokenFlow& f, std::uint64_t start) {
        f.receiving = true;
        std::uint32_t& taken = taken_[index_of(f)];
        taken = f.tail - f.head;
        const std::uint64_t each = (taken + std::uint64_t{warps_of_flow()} - 1) / warps_of_flow();
        const std::uint64_t bytes = taken * row_.all();
        const std::uint64_t served = port(f.to).access(bytes, bytes).count();
        post_received(
            index_of(f), std::max(start + each * receiver_row_time(params_, row_), served));
    }
    void on_received(std::uint32_t index) override {
        TokenFlow& f = flows_[index];
        std::uint64_t row = rows_[std::size_t{f.to} * n_ + f.from] + f.range.first + f.head;
        for (std::uint32_t left = taken_[index]; left > 0;) {
            const TokenFlow::Batch batch = f.batches.front();
            f.batches.pop_front();
            if (functional_)
                fabric_.values().take(batch.values, results_[f.to], row * kTokenNumbers);
            row += batch.tokens;
            left -= batch.tokens;
        }
        f.receiving = false;
        free_places(f, taken_[index]);
        if (f.head == f.range.count)
            part_done(f.to);
        else if (f.tail > f.head)
            receive(f, now() + params_.poll.count());
    }

    std::vector<std::uint64_t> rows_;   ///< by receiver and sender: where its tokens begin
    std::vector<std::uint32_t> taken_;  ///< by flow: tokens that are being copied
};

}  // namespace

std::uint64_t sender_row_time(const ExpertsParams& params, TokenBytes row, bool combine) {
    constexpr std::uint64_t kWarpLoad = 512;  // 32 threads, 16 bytes each
    constexpr std::uint64_t kScales = 32;     // threads of a warp
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
    const CollectiveEnvironment& environment,
    const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<DeepepDispatch>(environment, spec, listener);
}

}  // namespace switchfold
