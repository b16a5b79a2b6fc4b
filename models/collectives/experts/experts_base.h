// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/routing.h"
#include "models/collectives/running_collective.h"
#include "sim/kernel/scheduler.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// Functional mode: numbers that stand for a token, the same for the same token. A combine's
/// copies are those that the expert's rank sends back.
inline constexpr std::size_t kTokenNumbers = 8;
/// Of token `token` of rank `from`, as `expert_rank` has it; a dispatch's are the same for all.
[[nodiscard]] std::vector<float>
token_numbers(std::uint32_t from, std::uint32_t token, std::uint32_t expert_rank);
/// The sum of a token's copies in the order of their ranks, in float32, rounded to bfloat16 once.
[[nodiscard]] std::vector<float>
sum_of_copies(const Routing& routing, std::uint32_t from, std::uint32_t token);

/// What exchanges of experts have in common: routing, bytes of a token, who is done, and the
/// numbers of functional mode.
class ExpertsCollective : public RunningCollective, protected PacketClient, protected EventHandler {
public:
    ~ExpertsCollective() override { fabric_.remove_client(client_); }
    ExpertsCollective(const ExpertsCollective&) = delete;
    ExpertsCollective& operator=(const ExpertsCollective&) = delete;
    ExpertsCollective(ExpertsCollective&&) = delete;
    ExpertsCollective& operator=(ExpertsCollective&&) = delete;

    /// A kernel before the exchange waits for all ranks.
    void join(std::uint32_t position, Time start) override;
    [[nodiscard]] std::vector<std::vector<float>>& buffers() override { return results_; }
    [[nodiscard]] std::string wrong_result() const override;

protected:
    ExpertsCollective(
        const CollectiveEnvironment& environment,
        const CollectiveSpec& spec,
        MemberListener& listener);

    /// All have joined; what follows may begin at `start` (>= now).
    virtual void begin(Time start) = 0;
    std::uint32_t supply(const Packet& /*packet*/, std::uint32_t /*rank*/) override { return 0; }

    RankPort& port(std::uint32_t position) { return *ports_[spec_.ranks[position]]; }
    [[nodiscard]] std::uint64_t now() const { return scheduler_.now().count(); }
    /// A member has this many parts to do; each of them calls part_done().
    void add_part(std::uint32_t position) { ++parts_[position]; }
    void part_done(std::uint32_t position);
    /// Of the member's kernel: from when its last part is done.
    void finish_if_idle(std::uint32_t position);
    [[nodiscard]] bool done(std::uint32_t position) const { return parts_[position] == 0; }
    /// Functional mode: the numbers of `count` tokens from the `first` on that `from` has for `to`.
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
    bool combine_;  ///< and no dispatch
    Routing routing_;
    TokenBytes row_;  ///< of a token on its way
    /// Functional mode, by member: of a dispatch, the tokens in the order of their senders; of a
    /// combine, the sums in the order of the tokens.
    std::vector<std::vector<float>> results_;

private:
    Time start_;
    std::uint32_t joined_ = 0;
    std::vector<std::uint32_t> parts_;  ///< by member, not done
};

}  // namespace switchfold
