// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/parameters.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::programs {

/// What one instruction of a thread block does: MSCCL's, and two of switches that reduce.
enum class Op : std::uint8_t {
    kNothing,  ///< only waits
    kSend,
    kReceive,
    kReceiveCopySend,
    kReceiveReduceSend,      ///< adds its own, keeps nothing
    kReceiveReduceCopy,      ///< adds its own and keeps the sum
    kReceiveReduceCopySend,  ///< both
    kCopy,
    kReduce,             ///< adds one place of its memory to another
    kMultimemReduce,     ///< the switch reads the place at all GPUs of the machine and adds
    kMulticastStore,     ///< the switch stores its place to all GPUs of the machine
    kMultimemReduceAll,  ///< both: the sum goes to all from registers, as in NVLS
    kBarrier,            ///< among blocks of this place at all GPUs of the machine
};
[[nodiscard]] std::string_view name_of(Op op);
[[nodiscard]] constexpr bool receives(Op op) {
    return op >= Op::kReceive && op <= Op::kReceiveReduceCopySend;
}
[[nodiscard]] constexpr bool sends(Op op) {
    return op == Op::kSend || op == Op::kReceiveCopySend || op == Op::kReceiveReduceSend ||
           op == Op::kReceiveReduceCopySend;
}
/// Whether it reads `from` of its own memory.
[[nodiscard]] constexpr bool loads(Op op) {
    return op == Op::kSend || op == Op::kReceiveReduceSend || op == Op::kReceiveReduceCopy ||
           op == Op::kReceiveReduceCopySend || op == Op::kCopy || op == Op::kReduce ||
           op == Op::kMulticastStore;
}
/// Whether it writes `to` of its own memory.
[[nodiscard]] constexpr bool stores(Op op) {
    return op == Op::kReceive || op == Op::kReceiveCopySend || op == Op::kReceiveReduceCopy ||
           op == Op::kReceiveReduceCopySend || op == Op::kCopy || op == Op::kReduce ||
           op == Op::kMultimemReduce;
}
[[nodiscard]] constexpr bool in_switch(Op op) {
    return op >= Op::kMultimemReduce;
}

/// An instruction of another block of the rank that must have ended.
struct After {
    std::uint32_t block = 0;
    std::uint32_t step = 0;
    bool operator==(const After&) const = default;
};
struct Instruction {
    Op op = Op::kNothing;
    std::uint32_t from = 0;  ///< place in the rank's memory
    std::uint32_t to = 0;
    std::uint32_t count = 1;  ///< places one after the other
    std::vector<After> after;
    std::uint32_t source = 0;  ///< index into Program::sources
    /// By the proof: of each place, the chunk that its numbers are of, and so how long it is.
    std::vector<std::uint32_t> chunks;
};

inline constexpr std::uint32_t kNobody = UINT32_MAX;
/// A thread block: at most one peer in each direction.
struct Block {
    std::uint32_t channel = 0;
    std::uint32_t receive = kNobody;
    std::uint32_t send = kNobody;
    std::vector<Instruction> steps;
};
struct RankProgram {
    std::vector<Block> blocks;
    std::uint32_t scratch = 0;  ///< places
};

/// The ranks that a program is made for.
struct Shape {
    std::uint32_t ranks = 0;
    std::uint32_t per_machine = 0;
    std::uint32_t instances = 1;
    auto operator<=>(const Shape&) const = default;
    [[nodiscard]] std::uint32_t machines() const {
        return per_machine == 0 ? 1 : (ranks + per_machine - 1) / per_machine;
    }
};

/// A collective as instructions. A rank's memory is places of one chunk each: first its whole
/// buffer (of an all-gather and a reduce-scatter that of all shares), then, if the input is not the
/// buffer itself, the input, then scratch.
struct Program {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Shape shape;
    std::uint32_t chunks = 1;             ///< of the whole buffer, in each instance
    bool in_place = true;                 ///< input and buffer are one
    std::uint32_t root = 0;               ///< of a broadcast
    Protocol protocol = Protocol::kAuto;  ///< that the file asks for
    std::vector<RankProgram> ranks;
    std::vector<std::string> sources;  ///< pointers into the file

    [[nodiscard]] bool of_shares() const {
        return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
               kind == CollectiveKind::kAllToAll;
    }
    /// Chunks of a share, or of the buffer where there are none.
    [[nodiscard]] std::uint32_t chunks_of_share() const {
        return of_shares() ? chunks / shape.ranks : chunks;
    }
    /// Places of the input.
    [[nodiscard]] std::uint32_t inputs() const {
        return kind == CollectiveKind::kAllGather ? chunks_of_share() : chunks;
    }
    /// Where the input begins in a rank's memory.
    [[nodiscard]] std::uint32_t input_at(std::uint32_t rank) const {
        if (!in_place)
            return chunks;
        return kind == CollectiveKind::kAllGather ? rank * chunks_of_share() : 0;
    }
    /// Where scratch begins.
    [[nodiscard]] std::uint32_t scratch_at() const { return chunks + (in_place ? 0 : inputs()); }
    [[nodiscard]] std::uint32_t places(std::uint32_t rank) const {
        return scratch_at() + ranks[rank].scratch;
    }
};

/// A program that leaves every rank with the right numbers.
struct Proved {
    Program program;
    std::string name;          ///< of the file, in reports
    std::uint64_t digest = 0;  ///< of the file's text
    std::uint32_t blocks = 1;  ///< most of a rank
    bool uses_switches = false;
};

}  // namespace switchfold::programs
