// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/low_latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace switchfold {

namespace {

/// The warps of each expert return its rows, one warp per row. When all flags have arrived, blocks
/// take tokens in turn and add their copies.
class LowLatencyCombine final : public LowLatencyCollective {
public:
    LowLatencyCombine(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener) :
        LowLatencyCollective(environment, spec, listener), flags_(n_), rounds_(pairs_.size()) {
        for (std::uint32_t to = 0; to < n_; ++to)
            for (std::uint32_t expert = 0; expert < exchange_.experts; ++expert) {
                Pair& p = pair(expert_rank(expert), to);
                p.bytes += rows(to, expert) * row_.all();
                const std::uint32_t turns =
                    (rows(to, expert) + shape_.warps_of_group - 1) / shape_.warps_of_group;
                auto& rounds = rounds_[index_of(p)];
                rounds.resize(std::max<std::size_t>(rounds.size(), turns));
                for (std::uint32_t turn = 0; turn < turns; ++turn)
                    rounds[turn].rows += std::min(
                        shape_.warps_of_group, rows(to, expert) - turn * shape_.warps_of_group);
            }
        if (functional_)
            name_rows();
    }
    [[nodiscard]] std::string wrong_result() const override {
        for (std::uint32_t rank = 0; rank < n_; ++rank)
            for (std::uint32_t token = 0; token < counts_[rank].tokens; ++token) {
                std::vector<float> sum(kTokenNumbers);
                for (std::uint64_t choice = counts_[rank].first(token);
                     choice < counts_[rank].first(token + 1); ++choice) {
                    const std::vector<float> copy =
                        token_numbers(rank, token, experts_[rank][choice]);
                    for (std::size_t i = 0; i < kTokenNumbers; ++i)
                        sum[i] += copy[i];
                }
                for (std::size_t i = 0; i < kTokenNumbers; ++i)
                    if (std::bit_cast<std::uint32_t>(results_[rank][token * kTokenNumbers + i]) !=
                        std::bit_cast<std::uint32_t>(round_to(ElementType::kBfloat16, sum[i])))
                        return fmt::format("the sum of token {} of rank {} is wrong", token, rank);
            }
        return {};
    }

private:
    /// Rows of one pair that are sent concurrently, beside those to all other ranks: packet by
    /// packet, as the warps store them.
    struct Round {
        std::uint32_t rows = 0;
        std::uint64_t sent = 0;            ///< bytes
        std::vector<std::size_t> choices;  ///< functional mode: choices of the receiver's tokens
    };
    [[nodiscard]] std::size_t index_of(const Pair& p) const {
        return static_cast<std::size_t>(&p - pairs_.data());
    }
    /// Functional mode: assigns rows to rounds.
    void name_rows() {
        std::vector<std::uint32_t> seen(std::size_t{n_} * exchange_.experts);
        copies_.resize(n_);
        for (std::uint32_t to = 0; to < n_; ++to) {
            copies_[to].assign(
                experts_[to].size() * kTokenNumbers, std::numeric_limits<float>::quiet_NaN());
            for (std::size_t choice = 0; choice < experts_[to].size(); ++choice) {
                const std::uint32_t expert = experts_[to][choice];
                const std::uint32_t row = seen[std::size_t{to} * exchange_.experts + expert]++;
                rounds_[index_of(pair(expert_rank(expert), to))][row / shape_.warps_of_group]
                    .choices.push_back(choice);
            }
        }
    }
    void begin(Time start) override {
        start_pairs(start.count());
        for (const Pair& p : pairs_)
            if (p.bytes > 0)
                post_round(p, 0, start.count());
    }
    void post_round(const Pair& p, std::uint64_t number, std::uint64_t from) {
        const Round& round = rounds_[index_of(p)][number];
        const std::uint64_t all = round.rows * row_.all();
        const std::uint64_t bytes = std::min(largest_packet(), all - round.sent);
        const std::uint64_t served = port(p.from).access(bytes, 0).count();
        const std::uint64_t busy = row_time(row_.all()) * bytes / all;
        post(number << 32U | index_of(p), std::max(from + busy, served));
    }
    void on_stage(std::uint64_t tag) override {
        const auto index = static_cast<std::uint32_t>(tag);
        if ((tag & kAdded) != 0)
            return added(index);
        Pair& p = pairs_[index];
        const std::uint64_t number = tag >> 32U;
        Round& round = rounds_[index][number];
        std::uint32_t values = 0;
        if (functional_ && round.sent == 0) {
            std::vector<float> numbers;
            for (const std::size_t choice : round.choices) {
                const std::uint32_t token = counts_[p.to].token_of(choice);
                const std::vector<float> one = token_numbers(p.to, token, experts_[p.to][choice]);
                numbers.insert(numbers.end(), one.begin(), one.end());
            }
            values = fabric_.values().put(std::move(numbers));
        }
        const std::uint64_t all = round.rows * row_.all();
        const std::uint64_t bytes = std::min(largest_packet(), all - round.sent);
        round.sent += bytes;
        const std::uint64_t left = send(p, bytes, std::uint64_t{p.from} << 48U | number, values);
        if (round.sent < all)
            post_round(p, number, left);
        else if (number + 1 < rounds_[index].size())
            post_round(p, number + 1, left);
    }
    void on_values(Pair& p, std::uint64_t tag, std::uint32_t values) override {
        const std::uint64_t round = tag & ((1ULL << 48U) - 1);
        const std::vector<float>& numbers = fabric_.values().get(values);
        std::size_t at = 0;
        for (const std::size_t choice : rounds_[index_of(p)][round].choices)
            for (std::size_t i = 0; i < kTokenNumbers; ++i)
                copies_[p.to][choice * kTokenNumbers + i] = numbers[at++];
        fabric_.values().drop(values);
    }
    void on_flag(Pair& p) override {
        if (++flags_[p.to] < n_)
            return;
        const std::uint64_t copies = experts_[p.to].size();
        const std::uint64_t bytes = copies * row_.all();
        const std::uint64_t each =
            (counts_[p.to].tokens + std::uint64_t{shape_.blocks} - 1) / shape_.blocks;
        // Four copies of a token are loaded at once.
        constexpr std::uint64_t kUnrolled = 4;
        const std::uint64_t latency =
            params_.row_overhead.count() +
            (exchange_.top_k + kUnrolled - 1) / kUnrolled * params_.copy_round.count();
        const std::uint64_t busy =
            serialization_time(
                Bytes(counts_[p.to].first(static_cast<std::uint32_t>(each)) * row_.all()),
                params_.reduce_rate)
                .count();
        const std::uint64_t served =
            port(p.to).access(bytes, counts_[p.to].tokens * row_.all()).count();
        post(
            kAdded | p.to,
            std::max(now() + params_.poll.count() + std::max(latency, busy), served));
    }
    void added(std::uint32_t rank) {
        const TokenCounts& counts = counts_[rank];
        for (std::uint32_t token = 0; functional_ && token < counts.tokens; ++token)
            for (std::size_t i = 0; i < kTokenNumbers; ++i) {
                float sum = 0;
                for (std::uint64_t choice = counts.first(token); choice < counts.first(token + 1);
                     ++choice)
                    sum += copies_[rank][choice * kTokenNumbers + i];
                results_[rank][token * kTokenNumbers + i] = round_to(ElementType::kBfloat16, sum);
            }
        for (std::uint32_t part = 0; part < n_; ++part)
            part_done(rank);
    }

    static constexpr std::uint64_t kAdded = 1ULL << 62U;
    std::vector<std::uint32_t> flags_;        ///< number received, by receiver
    std::vector<std::vector<Round>> rounds_;  ///< by pair
    std::vector<std::vector<float>> copies_;  ///< functional mode: by receiver and choice
};

}  // namespace

std::unique_ptr<RunningCollective> make_low_latency_combine(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    MemberListener& listener) {
    return std::make_unique<LowLatencyCombine>(environment, spec, listener);
}

}  // namespace switchfold
