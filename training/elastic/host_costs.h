// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "training/elastic/meeting.h"
#include "training/elastic/placement.h"
#include "training/elastic/shared_storage.h"

#include <cstdint>
#include <vector>

namespace switchfold::elastic {

/// Members that read a checkpoint.
enum class Readers : std::uint8_t {
    kEveryRank,
    kEveryMachine,  ///< the page cache serves a machine's other ranks
    kOne,           ///< which sends it to the others
};

/// Who writes what every member holds of a checkpoint; what they divide, each writes itself.
enum class Writers : std::uint8_t {
    kOne,       ///< the first member
    kEveryRank  ///< equal parts
};

/// Host and library times of a membership change, which no simulation gives. Sources are listed in
/// configs/costs.
struct HostCosts {
    Time pod;  ///< until a machine or container can start a process
    bool restart_pods =
        false;  ///< a restart needs new pods for all ranks, otherwise only for added ones
    bool keep_processes = false;   ///< a restart keeps existing processes
    Time detection;                ///< from a request, or a death, until members know of it
    Time poll;                     ///< between two looks for work of a kept process that waits
    Time kill;                     ///< until old processes have ended
    Time start;                    ///< of a process
    Time import;                   ///< of its libraries
    Time context;                  ///< of a GPU
    Time context_per_gpu;          ///< additional, per other GPU of the machine (peer access)
    Time rendezvous;               ///< agreement on the participants
    Time skew;                     ///< spread of the ranks' arrivals at the bootstrap
    Time bootstrap_step;           ///< one step of the TCP ring by which ranks find each other
    Time kernels;                  ///< loaded by a process's first communicator
    Time allocation;               ///< of a communicator's buffers
    Time topology;                 ///< search, graphs, and the all-gathers between them
    Time connection;               ///< one end of a ring channel, within a machine
    Time connection_network;       ///< the same to another machine
    bool warm_connections = true;  ///< a prepared communicator connects beside training
    Time build;                    ///< model, compiler, captured graphs
    Time data;                     ///< until the first batch is available
    Time switching;                ///< to a prepared communicator, and redistribution of the batch
    /// Members wrap the network anew on their new communicator, which sends the first member's
    /// weights to all: PyTorch's DistributedDataParallel with init_sync.
    bool sync_weights = true;
    Time timeout;             ///< until members give up on a dead rank
    Time abort;               ///< of a communicator's pending work
    Bandwidth storage_write;  ///< of the shared storage
    Bandwidth storage_read;   ///< of the shared storage
    Bandwidth client;         ///< limit of one process, writing or reading
    Readers readers = Readers::kEveryRank;
    Writers writers = Writers::kOne;
};

/// Bytes of a run's state, the weights and the optimizer's, and who holds them.
struct HeldState {
    // NOLINTNEXTLINE(google-explicit-constructor): the state of members of one GPU
    HeldState(Bytes in_each = {}, Bytes divided_by_all = {}, std::uint32_t member = 1) :
        each(in_each), divided(divided_by_all), gpus(member) {}
    [[nodiscard]] Bytes all() const { return each + divided; }

    Bytes each;              ///< every member holds them, in equal parts on its GPUs
    Bytes divided;           ///< all members' GPUs divide them (ZeRO)
    std::uint32_t gpus = 1;  ///< of a member
};

/// Bytes of the state that each of the ranks writes.
[[nodiscard]] std::vector<Bytes>
parts_written(Writers writers, const HeldState& state, std::uint32_t ranks);
/// Time for the ranks to write the state, all starting together.
[[nodiscard]] Time write_time(const HostCosts& costs, const HeldState& state, std::uint32_t ranks);
/// Time at which each rank has its part of the state, given when each begins to read. Readers share
/// the storage; a machine's other ranks have what they need together with its reader. With a single
/// reader, only the ranks of the first member have theirs.
[[nodiscard]] std::vector<Time> read_ends(
    const HostCosts& costs, const HeldState& state, const Placement& placement,
    const std::vector<Time>& arrivals);

/// Time to create a context on a machine with `gpus_of_machine` GPUs in use.
[[nodiscard]] Time context_time(const HostCosts& costs, std::uint32_t gpus_of_machine);

/// Expected time until the last of the kept processes looks for work, if each of `groups` looks at
/// its own times. Processes that have begun to wait together look together.
[[nodiscard]] Time look_time(const HostCosts& costs, std::uint32_t groups);

/// How a communicator is created.
enum class Communicator : std::uint8_t {
    kFirst,   ///< in new processes
    kFresh,   ///< in processes that had one: kernels are loaded already
    kShrink,  ///< from a living one, whose resources it reuses
    kAborted  ///< after aborting one: kernels are loaded already, nothing else is shared
};
/// Host time of its initialisation: loading, allocation and topology search.
[[nodiscard]] Time
init_time(const HostCosts& costs, Communicator communicator, std::uint32_t ranks);
/// Time at which each rank has found all others, given when each begins to look. Processes arrive
/// spread over the skew; those of an aborted communicator continue together, and a shrink needs no
/// bootstrap.
[[nodiscard]] std::vector<Time> bootstrap_ends(
    const HostCosts& costs, Communicator communicator, const std::vector<Time>& arrivals);
/// Time at which the connections of each member's first collective exist, given when each arrives
/// at it.
[[nodiscard]] std::vector<Time> connection_ends(
    const HostCosts& costs, Communicator communicator, const Placement& placement,
    const std::vector<Time>& arrivals);
/// The latest time.
[[nodiscard]] Time last_of(const std::vector<Time>& times);

}  // namespace switchfold::elastic
