// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/experts/deepep_normal.h"
#include "models/collectives/experts/ring_buffers.h"

namespace switchfold {

namespace {

/// A sender's warps return all tokens that came from the receiver. A receiving block's warps
/// (except one, which advances the heads) each take the channel's next token, wait for its copies
/// from all ranks that had it, add them in float32 and write the sum.
class DeepepCombine final : public RingBuffers {
public:
    DeepepCombine(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        RingBuffers(environment, spec, listener, deepep_shape(environment.params.experts, spec)),
        blocks_(std::size_t{n_} * channels_) {
        warps_ = std::max(2U, params_.threads / kWarpThreads) - 1;
        // The tokens left in a buffer while its sender waits for room must include a full wave.
        const std::uint32_t room = shape_.places - std::min(shape_.places - 1, chunk_);
        wave_ = std::min(warps_, room);
        for (std::uint32_t rank = 0; rank < n_; ++rank)
            for (std::uint32_t channel = 0; channel < channels_; ++channel) {
                Block& b = block(rank, channel);
                b.part = channel_tokens(routing_.tokens(rank), channels_, channel);
                b.needed.resize(n_);
                if (b.part.count > 0)
                    add_part(rank);
                next_wave(rank, channel);
            }
    }

private:
    /// A receiving block.
    struct Block {
        TokenRange part;         ///< range of its rank's tokens
        std::uint32_t done = 0;  ///< number done
        std::uint32_t wave = 0;  ///< tokens of the current wave
        std::uint64_t copies = 0;
        bool running = false;
        std::vector<std::uint32_t>
            needed;  ///< by sender: number of tokens needed by the end of the wave
    };
    [[nodiscard]] Block& block(std::uint32_t rank, std::uint32_t channel) {
        return blocks_[std::size_t{rank} * channels_ + channel];
    }
    [[nodiscard]] std::uint64_t copy_time(const TokenFlow& f) const override {
        return turns(f.chunk) * sender_row_time(params_, row_, true);
    }
    /// Takes the next tokens, one per warp.
    void next_wave(std::uint32_t rank, std::uint32_t channel) {
        Block& b = block(rank, channel);
        b.wave = std::min(wave_, b.part.count - b.done);
        b.copies = 0;
        for (std::uint32_t i = 0; i < b.wave; ++i)
            for (const std::uint16_t from :
                 routing_.destinations(rank, b.part.first + b.done + i)) {
                ++b.needed[from];
                ++b.copies;
            }
    }
    void on_tail(TokenFlow& f) override { try_wave(f.to, f.channel); }
    void try_wave(std::uint32_t rank, std::uint32_t channel) {
        Block& b = block(rank, channel);
        if (b.running || b.wave == 0)
            return;
        for (std::uint32_t from = 0; from < n_; ++from)
            if (flow(channel, from, rank).tail < b.needed[from])
                return;
        b.running = true;
        constexpr std::uint64_t kWarpLoad = 512;
        const std::uint64_t loads = (row_.elements + kWarpLoad - 1) / kWarpLoad;
        const std::uint64_t latency =
            params_.row_overhead.count() + loads * params_.copy_round.count();
        const std::uint64_t bytes = b.copies * row_.all();
        const std::uint64_t busy = serialization_time(Bytes(bytes), params_.reduce_rate).count();
        const std::uint64_t served = port(rank).access(bytes, b.wave * row_.all()).count();
        const std::uint64_t start = now() + params_.poll.count();
        post_received(
            rank * channels_ + channel, std::max(start + std::max(latency, busy), served));
    }
    void on_received(std::uint32_t index) override {
        const std::uint32_t rank = index / channels_;
        const std::uint32_t channel = index % channels_;
        Block& b = block(rank, channel);
        if (functional_)
            add_copies(rank, channel);
        b.running = false;
        b.done += b.wave;
        for (std::uint32_t from = 0; from < n_; ++from) {
            TokenFlow& f = flow(channel, from, rank);
            if (b.needed[from] > f.head)
                free_places(f, b.needed[from] - f.head);
            drop_taken(f);
        }
        if (b.done == b.part.count)
            return part_done(rank);
        next_wave(rank, channel);
        try_wave(rank, channel);
    }
    /// Drops batches whose tokens have all been taken.
    void drop_taken(TokenFlow& f) {
        while (!f.batches.empty() && f.gone + f.batches.front().tokens <= f.head) {
            f.gone += f.batches.front().tokens;
            fabric_.values().drop(f.batches.front().values);
            f.batches.pop_front();
        }
    }
    void add_copies(std::uint32_t rank, std::uint32_t channel) {
        const Block& b = block(rank, channel);
        std::vector<std::uint32_t> at(n_);
        for (std::uint32_t from = 0; from < n_; ++from)
            at[from] = flow(channel, from, rank).head;
        for (std::uint32_t i = 0; i < b.wave; ++i) {
            const std::uint32_t token = b.part.first + b.done + i;
            float* sum = results_[rank].data() + token * kTokenNumbers;
            for (const std::uint16_t from : routing_.destinations(rank, token)) {
                const float* copy = copy_at(flow(channel, from, rank), at[from]++);
                for (std::size_t number = 0; number < kTokenNumbers; ++number)
                    sum[number] += copy[number];
            }
            for (std::size_t number = 0; number < kTokenNumbers; ++number)
                sum[number] = round_to(ElementType::kBfloat16, sum[number]);
        }
    }
    /// The values of the flow's token `index`, which are in its ring buffer.
    const float* copy_at(TokenFlow& f, std::uint32_t index) {
        std::uint32_t first = f.gone;
        for (std::size_t i = 0; i < f.batches.size(); ++i) {
            const TokenFlow::Batch& batch = f.batches[i];
            if (index < first + batch.tokens)
                return fabric_.values().get(batch.values).data() + (index - first) * kTokenNumbers;
            first += batch.tokens;
        }
        SWITCHFOLD_CHECK(false, "token {} is not in its ring buffer", index);
    }

    std::uint32_t wave_ = 0;   ///< tokens that a block's warps take at a time
    std::uint32_t warps_ = 0;  ///< adding warps per block
    std::vector<Block> blocks_;
};

}  // namespace

std::unique_ptr<RunningCollective> make_deepep_combine(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<DeepepCombine>(environment, spec, listener);
}

}  // namespace switchfold
