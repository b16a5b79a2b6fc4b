// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/experts_base.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

/// How DeepEP's low-latency kernels map experts to SMs (internode_ll.cu): one group of a block's 32
/// warps per expert.
struct LowLatencyShape {
    std::uint32_t blocks = 1;  ///< of 1,024 threads
    std::uint32_t groups = 1;  ///< groups of warps per block
    std::uint32_t warps_of_group = 32;
};
[[nodiscard]] LowLatencyShape low_latency_shape(std::uint32_t experts, std::uint32_t sms);

/// Limit due to the buffers, which have a slot for each token of each rank for each expert.
inline constexpr std::uint32_t kMostLowLatencyTokens = 16'384;

/// Common part of DeepEP's low-latency dispatch and combine: one copy for every expert that a token
/// chose, directly to or from the expert's rank, and one flag per pair of ranks when all have
/// arrived.
class LowLatencyCollective : public ExpertsCollective {
public:
    [[nodiscard]] Bytes footprint() const override { return Bytes(0); }
    [[nodiscard]] std::vector<std::string> blocked(std::size_t limit) const override;

protected:
    /// Everything that one rank sends to another, or to itself.
    struct Pair {
        const Connection* route = nullptr;  ///< null: to itself
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint64_t bytes = 0;    ///< total
        std::uint64_t arrived = 0;  ///< bytes arrived
        std::uint64_t last = 0;     ///< ps at which the sender learns of the last arrival
        std::uint32_t units = 0;
        bool flagged = false;
    };
    LowLatencyCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener);

    /// Starts sending. \pre each pair's `bytes` are set.
    void start_pairs(std::uint64_t at);
    /// Sends now. \returns when the last byte leaves (ps), or now if it waits for a credit.
    std::uint64_t send(Pair& pair, std::uint64_t bytes, std::uint64_t tag, std::uint32_t values);
    /// Limit on the bytes of a packet.
    [[nodiscard]] std::uint64_t largest_packet() const;
    /// The pair's flag has arrived at its receiver.
    virtual void on_flag(Pair& pair) = 0;
    /// Functional mode: values have arrived.
    virtual void on_values(Pair& pair, std::uint64_t tag, std::uint32_t values) = 0;
    virtual void on_stage(std::uint64_t tag) = 0;

    /// \pre `at` >= now.
    void post(std::uint64_t tag, std::uint64_t at) {
        scheduler_.at(Time(std::max(at, now())), *this, tag);
    }
    [[nodiscard]] Pair& pair(std::uint32_t from, std::uint32_t to) {
        return pairs_[std::size_t{from} * n_ + to];
    }
    [[nodiscard]] std::uint32_t expert_rank(std::uint32_t expert) const { return expert / each_; }
    /// Rows that a rank's tokens contribute to an expert.
    [[nodiscard]] std::uint32_t rows(std::uint32_t from, std::uint32_t expert) const {
        return rows_[std::size_t{from} * exchange_.experts + expert];
    }
    /// Time of a warp for a row of `bytes`: 8 loads of 16 bytes per thread at once.
    [[nodiscard]] std::uint64_t row_time(std::uint64_t bytes) const {
        constexpr std::uint64_t kUnrolled = 8 * 512;
        return params_.row_overhead.count() +
               params_.copy_round.count() * ((bytes + kUnrolled - 1) / kUnrolled);
    }

    LowLatencyShape shape_;
    std::uint32_t each_;                               ///< experts per rank
    std::vector<std::vector<std::uint32_t>> experts_;  ///< by rank: those of each token in turn
    std::vector<TokenCounts> counts_;                  ///< by rank
    std::vector<Pair> pairs_;                          ///< by sender and receiver

    static constexpr std::uint64_t kFlag = 1ULL << 63U;  ///< tag of a flag

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
