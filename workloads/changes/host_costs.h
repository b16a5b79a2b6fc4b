// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "workloads/changes/meeting.h"
#include "workloads/changes/placement.h"
#include "workloads/changes/shared_storage.h"

#include <cstdint>
#include <vector>

namespace switchfold::changes {

/// Who reads a checkpoint.
enum class Readers : std::uint8_t {
    kEveryRank,
    kEveryMachine,  ///< the page cache serves the other ranks of a machine
    kOne,           ///< and sends it to the others
};

/// Who writes a checkpoint, of replicas that all hold the whole state.
enum class Writers : std::uint8_t {
    kOne,       ///< the first member
    kEveryRank  ///< each an equal part
};

/// What hosts and libraries take when a device set changes: numbers that no simulation gives. Where
/// each comes from stands in configs/costs.
struct HostCosts {
    Time pod;  ///< until a machine or container is there in which a process can start
    bool restart_pods = false;     ///< a restart takes new pods for all ranks, else for added ones
    bool keep_processes = false;   ///< a restart keeps the processes that there are
    Time detection;                ///< from a request, or a death, until the members know
    Time kill;                     ///< until old processes have ended
    Time start;                    ///< of a process
    Time import;                   ///< of its libraries
    Time context;                  ///< of a GPU
    Time context_per_gpu;          ///< on top, for each other GPU of the machine (peer access)
    Time rendezvous;               ///< agreeing on who takes part
    Time skew;                     ///< ranks come to the bootstrap apart by this much
    Time bootstrap_step;           ///< of the TCP ring in which ranks find each other
    Time kernels;                  ///< a process's first communicator loads them
    Time allocation;               ///< of a communicator's buffers
    Time topology;                 ///< search, graphs, and the all-gathers between
    Time connection;               ///< one end of a channel of a ring, within a machine
    Time connection_network;       ///< the same to another machine
    bool warm_connections = true;  ///< a prepared communicator makes them beside training
    Time build;                    ///< model, compiler, captured graphs
    Time data;                     ///< until the first batch is there
    Time switching;           ///< to a prepared communicator, with the new division of the batch
    Time timeout;             ///< until members give up on a rank that is gone
    Time abort;               ///< of what is under way on a communicator
    Bandwidth storage_write;  ///< of the storage that all share
    Bandwidth storage_read;   ///< likewise
    Bandwidth client;         ///< most that one process writes or reads
    Readers readers = Readers::kEveryRank;
    Writers writers = Writers::kOne;
};

/// Bytes of the state that each of the members writes.
[[nodiscard]] std::vector<Bytes> parts_written(Writers writers, Bytes state, std::uint32_t members);
/// Time until the members have written the state, all from the same moment on.
[[nodiscard]] Time write_time(const HostCosts& costs, Bytes state, std::uint32_t members);
/// When each member has the state, from when each begins to read: those that read share the
/// storage; the others of a machine have it with its reader. Where one reads, only it has it.
[[nodiscard]] std::vector<Time> read_ends(
    const HostCosts& costs,
    Bytes state,
    const Placement& placement,
    const std::vector<Time>& arrivals);

/// Time of a context on a machine of so many GPUs in use.
[[nodiscard]] Time context_time(const HostCosts& costs, std::uint32_t gpus_of_machine);

/// How a communicator comes about.
enum class Communicator : std::uint8_t {
    kFirst,   ///< in new processes
    kFresh,   ///< in processes that had one: kernels are loaded
    kShrink,  ///< out of a living one, whose resources it uses on
    kAborted  ///< out of one that was aborted: kernels are loaded, nothing else is shared
};
/// Host work of its initialisation: what is loaded, allocated and searched.
[[nodiscard]] Time
init_time(const HostCosts& costs, Communicator communicator, std::uint32_t ranks);
/// When each rank has found all others, from when each began to look for them. Processes come
/// apart, the first at once and the last by the whole skew; those of a communicator that was
/// aborted go on together, and a shrink asks nobody.
[[nodiscard]] std::vector<Time> bootstrap_ends(
    const HostCosts& costs, Communicator communicator, const std::vector<Time>& arrivals);
/// When the connections of each member's first collective are there, from when each came to it.
[[nodiscard]] std::vector<Time> connection_ends(
    const HostCosts& costs,
    Communicator communicator,
    const Placement& placement,
    const std::vector<Time>& arrivals);
/// The last of them.
[[nodiscard]] Time last_of(const std::vector<Time>& times);

}  // namespace switchfold::changes
