// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "models/collectives/experts/routing.h"
#include "models/collectives/running_collective.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Functional mode: number of values that represent a token. A combine's copies are those returned
/// by the expert's rank.
inline constexpr std::size_t kTokenNumbers = 8;
/// Values of token `token` of rank `from` as held by `expert_rank`; for a dispatch the same for all
/// ranks.
[[nodiscard]] std::vector<float>
token_numbers(std::uint32_t from, std::uint32_t token, std::uint32_t expert_rank);
/// The sum of a token's copies in rank order, in float32, rounded to bfloat16 once.
[[nodiscard]] std::vector<float>
sum_of_copies(const Routing& routing, std::uint32_t from, std::uint32_t token);

/// Common part of experts' exchanges: routing, bytes per token, completion, and the values of
/// functional mode.
class ExpertsCollective : public RunningCollective,
                          public Functional,
                          protected PacketClient,
                          protected EventHandler {
public:
    ~ExpertsCollective() override { fabric_.remove_client(client_); }
    ExpertsCollective(const ExpertsCollective&) = delete;
    ExpertsCollective& operator=(const ExpertsCollective&) = delete;
    ExpertsCollective(ExpertsCollective&&) = delete;
    ExpertsCollective& operator=(ExpertsCollective&&) = delete;

    /// A preceding kernel synchronises all ranks.
    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return results_; }
    [[nodiscard]] std::string wrong_result() const override;

protected:
    ExpertsCollective(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener);

    /// Called when all have joined; data may move from `start` (>= now) on.
    virtual void begin(Time start) = 0;
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }

    RankPort& port(std::uint32_t position) { return *ports_[spec_.ranks[position]]; }
    [[nodiscard]] std::uint64_t now() const { return scheduler_.now().count(); }
    /// Declares another part of a member's work, which must call part_done().
    void add_part(std::uint32_t position) { ++parts_[position]; }
    void part_done(std::uint32_t position);
    /// Ends the member's kernel if its last part is done.
    void finish_if_idle(std::uint32_t position);
    [[nodiscard]] bool done(std::uint32_t position) const { return parts_[position] == 0; }
    /// Functional mode: the values of `count` tokens from index `first` on that `from` sends to
    /// `to`.
    [[nodiscard]] std::vector<float> numbers_of(
        std::uint32_t from, std::uint32_t to, std::uint64_t first, std::uint64_t count) const;

    Fabric& fabric_;
    Scheduler& scheduler_;
    const std::vector<RankPort*>& ports_;
    const CollectiveParams& machine_;
    const ExpertsParams& params_;
    const CollectiveSpec spec_;
    const ExpertExchange exchange_;
    MemberListener& listener_;
    std::uint32_t client_;
    std::uint32_t n_;
    bool functional_;
    bool combine_;  ///< a combine; otherwise a dispatch
    Routing routing_;
    TokenBytes row_;  ///< of a token in transit
    /// Functional mode, by member: for a dispatch, tokens in the order of their senders; for a
    /// combine, sums in token order.
    std::vector<std::vector<float>> results_;

private:
    Time start_;
    std::uint32_t joined_ = 0;
    std::vector<std::uint32_t> parts_;  ///< unfinished ones, by member
};

}  // namespace switchfold
