// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/experts/ring_buffers.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Ring buffers from which the receiver's warps for a sender copy tokens to their slots in the
/// output: ordered by sender, then by its list.
class RowCopies : public RingBuffers {
protected:
    RowCopies(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, const RingShape& shape);

    /// Time (ps) of a receiver's warps for `tokens` tokens of a sender.
    [[nodiscard]] virtual std::uint64_t receive_time(std::uint64_t tokens) const = 0;

private:
    void on_tail(TokenFlow& flow) override;
    void on_received(std::uint32_t index) override;
    void receive(TokenFlow& flow);

    std::vector<std::uint64_t> rows_;   ///< by receiver and sender: index of its first token
    std::vector<std::uint32_t> taken_;  ///< by flow: tokens being copied
};

}  // namespace switchfold
