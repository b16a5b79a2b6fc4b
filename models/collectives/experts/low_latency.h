// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/experts_base.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// How DeepEP's low-latency kernels share experts out over SMs (internode_ll.cu): a group of a
/// block's 32 warps for each expert.
struct LowLatencyShape {
    std::uint32_t blocks = 1;  ///< of 1,024 threads
    std::uint32_t groups = 1;  ///< of warps in a block
    std::uint32_t warps_of_group = 32;
};
[[nodiscard]] LowLatencyShape low_latency_shape(std::uint32_t experts, std::uint32_t sms);

/// The buffers hold a place for each token of each rank, for each expert.
inline constexpr std::uint32_t kMostLowLatencyTokens = 16'384;

/// What DeepEP's low-latency dispatch and combine have in common: a copy for every expert that a
/// token chose, straight to or from the expert's rank, and one flag a pair of ranks when all are
/// there.
class LowLatencyCollective : public ExpertsCollective {
public:
    [[nodiscard]] Bytes footprint() const override { return Bytes(0); }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;

protected:
    /// All that one rank sends to another, or to itself.
    struct Pair {
        const Connection* route = nullptr;  ///< null: to itself
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint64_t bytes = 0;    ///< of all of it
        std::uint64_t arrived = 0;  ///< of them
        std::uint64_t last = 0;     ///< ps, when the sender knows of the last arrival
        std::uint32_t units = 0;
        bool flagged = false;
    };
    LowLatencyCollective(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener);

    /// Each pair's total is known: `bytes` are set.
    void start_pairs(std::uint64_t at);
    /// Sends, now; \returns when the last of it has left (ps), or now if it waits for credit.
    std::uint64_t send(Pair& pair, std::uint64_t bytes, std::uint64_t tag, std::uint32_t values);
    /// Bytes that go in one packet, at most.
    [[nodiscard]] std::uint64_t largest_packet() const;
    /// The flag of the pair has come to its receiver.
    virtual void on_flag(Pair& pair) = 0;
    /// Numbers have come, if they are carried.
    virtual void on_values(Pair& pair, std::uint64_t tag, std::uint32_t values) = 0;
    virtual void on_stage(std::uint64_t tag) = 0;

    /// `at` >= now.
    void post(std::uint64_t tag, std::uint64_t at) {
        scheduler_.at(Time(std::max(at, now())), *this, tag);
    }
    [[nodiscard]] Pair& pair(std::uint32_t from, std::uint32_t to) {
        return pairs_[std::size_t{from} * n_ + to];
    }
    [[nodiscard]] std::uint32_t expert_rank(std::uint32_t expert) const { return expert / each_; }
    /// Rows that a rank's tokens make for an expert.
    [[nodiscard]] std::uint32_t rows(std::uint32_t from, std::uint32_t expert) const {
        return rows_[std::size_t{from} * exchange_.experts + expert];
    }
    /// Time of a warp for a row of so many bytes: 8 loads of 16 bytes a thread at once.
    [[nodiscard]] std::uint64_t row_time(std::uint64_t bytes) const {
        constexpr std::uint64_t kUnrolled = 8 * 512;
        return params_.row_overhead.count() +
               params_.copy_round.count() * ((bytes + kUnrolled - 1) / kUnrolled);
    }

    LowLatencyShape shape_;
    std::uint32_t each_;                               ///< experts of a rank
    std::vector<std::vector<std::uint32_t>> experts_;  ///< by rank: top_k for each token
    std::vector<Pair> pairs_;                          ///< by sender and receiver

    static constexpr std::uint64_t kFlag = 1ULL << 63U;  ///< tag of a flag's arrival

private:
    void on_event(std::uint64_t tag) override;
    void on_packet(const Packet& packet, std::uint32_t rank, Time visible) override;
    void on_departure(std::uint64_t /*tag*/, Time /*departure*/) override {}
    void arrive(Pair& pair, std::uint64_t bytes, std::uint64_t known);

    std::vector<std::uint32_t> rows_;
};

[[nodiscard]] std::unique_ptr<RunningCollective>
make_low_latency_dispatch(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);
[[nodiscard]] std::unique_ptr<RunningCollective>
make_low_latency_combine(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

}  // namespace switchfold
