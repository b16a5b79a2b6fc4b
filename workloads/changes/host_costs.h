// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <cstdint>

namespace switchfold::changes {

/// Who reads a checkpoint.
enum class Readers : std::uint8_t {
    kEveryRank,
    kEveryMachine,  ///< the page cache serves the other ranks of a machine
    kOne,           ///< and sends it to the others
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
    Time bootstrap_per_rank;       ///< of the ring in which ranks find each other
    Time kernels;                  ///< a process's first communicator loads them
    Time allocation;               ///< of a communicator's buffers
    Time topology;                 ///< search, graphs, and the all-gathers between
    Time connections;              ///< at the first collective, within a machine
    Time connections_network;      ///< the same where ranks lie on several machines
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
    Bandwidth to_host;  ///< of state to the memory of a GPU's host
};

/// Time until rank 0 has written the state. All share the storage; there is one writer.
[[nodiscard]] Time write_time(const HostCosts& costs, Bytes state);
/// Time until all have read it: as many as the costs say share the storage fairly, each at most at
/// a client's rate.
[[nodiscard]] Time
read_time(const HostCosts& costs, Bytes state, std::uint32_t ranks, std::uint32_t machines);

/// Time of a context on a machine of so many GPUs in use.
[[nodiscard]] Time context_time(const HostCosts& costs, std::uint32_t gpus_of_machine);

/// How a communicator comes about.
enum class Communicator : std::uint8_t {
    kFirst,   ///< in new processes
    kFresh,   ///< in processes that had one: kernels are loaded
    kShrink,  ///< out of a living one, whose resources it uses on
    kAborted  ///< out of one that was aborted: kernels are loaded, nothing else is shared
};
/// Time of its initialisation, without connections.
[[nodiscard]] Time
init_time(const HostCosts& costs, Communicator communicator, std::uint32_t ranks);
/// Time that the first collective on it takes longer.
[[nodiscard]] Time
connection_time(const HostCosts& costs, Communicator communicator, std::uint32_t machines);

}  // namespace switchfold::changes
