// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Resources that one thread block takes on an SM.
struct BlockShape {
    std::uint32_t threads = 1;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
};

/// The blocks of one placement: how many on each SM.
struct Placement {
    std::vector<std::uint16_t> on_sm;
    std::uint64_t blocks = 0;
};

/// Removes `blocks` blocks from a placement, from the last SMs first. \returns the removed part.
[[nodiscard]] Placement take_back(Placement& placement, std::uint64_t blocks);

/// Free threads, registers, shared memory and block slots of every SM. An SM divides its memory
/// between L1 and shared memory according to the kernel that runs on it. SMs that share a carveout
/// keep it while any of them is busy, so a kernel that needs a larger one finds no room on them.
class SmArray {
public:
    SmArray(const SmParams& params, std::uint32_t sms);

    /// Blocks of this shape that one empty SM holds; 0 if not even one.
    [[nodiscard]] std::uint32_t limit(const BlockShape& shape) const;
    /// Places up to `blocks` blocks, one per SM in turn, on the emptiest SMs first.
    [[nodiscard]] Placement place(const BlockShape& shape, std::uint64_t blocks);
    void release(const BlockShape& shape, const Placement& placement);
    /// Placements and releases so far. While it stays, a release and a placement of the same blocks
    /// leave them where they are.
    [[nodiscard]] std::uint64_t changes() const { return changes_; }

    [[nodiscard]] std::uint32_t sms() const { return static_cast<std::uint32_t>(free_.size()); }
    /// SMs that hold at least one block.
    [[nodiscard]] std::uint32_t busy_sms() const { return busy_; }

private:
    struct Need {
        std::uint32_t threads;
        std::uint32_t registers;
        std::uint32_t shared_memory;
    };
    struct Free {
        std::uint32_t threads;
        std::uint32_t registers;
        std::uint32_t shared_memory;
        std::uint32_t blocks;
        bool operator==(const Free&) const = default;
    };
    [[nodiscard]] Need need(const BlockShape& shape) const;
    /// Carveout that a kernel of this shape requests: enough for its most blocks per SM.
    [[nodiscard]] std::uint32_t carveout(const Need& need) const;
    [[nodiscard]] static std::uint32_t fit(const Free& free, const Need& need);
    [[nodiscard]] std::uint32_t
    room(std::size_t sm, const Need& need, std::uint32_t carveout) const;
    void take(std::size_t sm, const Need& need, std::uint32_t carveout, std::uint32_t blocks);
    [[nodiscard]] std::size_t domain(std::size_t sm) const { return sm % domains_.size(); }

    /// SMs with a common carveout.
    struct Domain {
        std::uint32_t busy = 0;      ///< number of SMs that hold blocks
        std::uint32_t carveout = 0;  ///< fixed while any is busy
        bool operator==(const Domain&) const = default;
    };

    SmParams params_;
    Free empty_;
    std::vector<Free> free_;
    std::vector<Domain> domains_;
    std::vector<std::uint16_t> fits_;  ///< scratch memory of place()
    std::uint32_t busy_ = 0;
    std::uint64_t changes_ = 0;
};

}  // namespace switchfold
