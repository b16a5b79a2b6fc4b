// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/low_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace switchfold {

namespace {

/// Blocks take tokens in turn: all warps convert a token, then one warp per chosen expert copies it
/// there. When a sender's flag arrives, the warps of each expert copy the sender's rows to where
/// the expert's product reads them.
class LowLatencyDispatch final : public LowLatencyCollective {
public:
    LowLatencyDispatch(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        LowLatencyCollective(environment, spec, listener),
        message_(row_.all() + kIndex),
        sent_until_(n_) {
        for (std::uint32_t from = 0; from < n_; ++from)
            for (std::uint32_t expert = 0; expert < exchange_.experts; ++expert)
                pair(from, expert_rank(expert)).bytes += rows(from, expert) * message_;
        if (!functional_)
            return;
        // Received rows are ordered by sender, token and the token's choices.
        places_.resize(n_);
        for (std::uint32_t rank = 0; rank < n_; ++rank)
            results_[rank].clear();
        for (std::uint32_t from = 0; from < n_; ++from)
            for (const std::uint32_t expert : experts_[from]) {
                std::vector<float>& result = results_[expert_rank(expert)];
                places_[from].push_back(result.size());
                result.resize(
                    result.size() + kTokenNumbers, std::numeric_limits<float>::quiet_NaN());
            }
    }
    [[nodiscard]] std::string wrong_result() const override {
        for (std::uint32_t from = 0; from < n_; ++from)
            for (std::size_t choice = 0; choice < experts_[from].size(); ++choice) {
                const std::uint32_t token = counts_[from].token_of(choice);
                const std::uint32_t to = expert_rank(experts_[from][choice]);
                const std::vector<float> expected = token_numbers(from, token, 0);
                const auto at =
                    results_[to].begin() + static_cast<std::ptrdiff_t>(places_[from][choice]);
                if (!std::equal(expected.begin(), expected.end(), at))
                    return fmt::format(
                        "token {} of rank {} is not what rank {} has of it", token, from, to);
            }
        return {};
    }

private:
    static constexpr std::uint64_t kIndex = 16;  // bytes of a message that identify its token

    void begin(Time start) override {
        start_pairs(start.count());
        for (std::uint32_t rank = 0; rank < n_; ++rank)
            for (std::uint32_t sm = 0; sm < std::min(shape_.blocks, counts_[rank].tokens); ++sm)
                post_token(rank, sm, start.count());
    }
    /// Sends the token's copies at the end of its conversion.
    void post_token(std::uint32_t rank, std::uint32_t token, std::uint64_t from) {
        std::uint64_t busy = row_time(message_);
        if (exchange_.payload != ExpertPayload::kBfloat16)
            busy += params_.copy_round.count();
        const std::uint64_t read = 2ULL * exchange_.hidden;  // bfloat16 input
        const std::uint64_t served = port(rank).access(read, 0).count();
        post(std::uint64_t{rank} << 32U | token, std::max(from + busy, served));
    }
    void on_stage(std::uint64_t tag) override {
        const auto rank = static_cast<std::uint32_t>(tag >> 32U) & kRankMask;
        const auto index = static_cast<std::uint32_t>(tag);
        if ((tag & kReceived) != 0)
            return part_done(rank);
        std::uint64_t left = now();
        const TokenCounts& counts = counts_[rank];
        for (std::uint64_t choice = counts.first(index); choice < counts.first(index + 1);
             ++choice) {
            std::uint32_t values = 0;
            if (functional_)
                values = fabric_.values().put(token_numbers(rank, index, 0));
            left = std::max(
                left, send(
                          pair(rank, expert_rank(experts_[rank][choice])), message_,
                          std::uint64_t{rank} << 48U | choice, values));
        }
        sent_until_[rank] = std::max(sent_until_[rank], left);
        if (counts.tokens - index > shape_.blocks)
            post_token(rank, index + shape_.blocks, left);
    }
    void on_values(Pair& p, std::uint64_t tag, std::uint32_t values) override {
        const std::uint64_t choice = tag & ((1ULL << 48U) - 1);
        fabric_.values().take(values, results_[p.to], places_[p.from][choice]);
    }
    void on_flag(Pair& p) override {
        std::uint32_t most = 0;
        std::uint64_t all = 0;
        for (std::uint32_t expert = p.to * each_; expert < (p.to + 1) * each_; ++expert) {
            most = std::max(most, rows(p.from, expert));
            all += rows(p.from, expert);
        }
        const std::uint64_t turns =
            (most + std::uint64_t{shape_.warps_of_group} - 1) / shape_.warps_of_group;
        const std::uint64_t scales = row_.scales > 0 ? params_.scale_round.count() : 0;
        const std::uint64_t bytes = all * row_.all();
        const std::uint64_t served = port(p.to).access(bytes, bytes).count();
        const std::uint64_t start = std::max(now() + params_.poll.count(), sent_until_[p.to]);
        post(
            kReceived | std::uint64_t{p.to} << 32U,
            std::max(start + turns * (row_time(row_.all()) + scales), served));
    }

    static constexpr std::uint64_t kReceived = 1ULL << 62U;
    static constexpr std::uint32_t kRankMask = 0xFFFFFF;
    std::uint64_t message_;                           ///< bytes per copy
    std::vector<std::uint64_t> sent_until_;           ///< by rank, ps
    std::vector<std::vector<std::uint64_t>> places_;  ///< functional mode: by rank and choice
};

}  // namespace

std::unique_ptr<RunningCollective> make_low_latency_dispatch(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<LowLatencyDispatch>(environment, spec, listener);
}

}  // namespace switchfold
