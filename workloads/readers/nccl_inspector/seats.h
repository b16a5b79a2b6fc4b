// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/readers/nccl_inspector/line.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::nccl_inspector {

/// A place that a file names, and the GPU that it belongs to.
struct Member {
    Place place;
    std::string file;  ///< that names it first
    std::size_t seat = 0;
};

/// A GPU of the run. The Inspector states a rank's number in each of its communicators, not in the
/// run.
struct Seat {
    std::string file;
    std::uint32_t rank = 0;  ///< in the run
    std::vector<std::string> notes;
};

struct Run {
    std::vector<Seat> seats;
    std::uint32_t world_size = 1;
    std::vector<std::string> communicators;
    std::vector<std::vector<std::uint32_t>> ranks;  ///< in the run, of each communicator's ranks
    std::vector<Group> groups;                      ///< of the communicators
};

/// Finds the GPUs, their ranks and who is in which communicator, and sets the members' seats. A
/// process is one GPU, or one for each rank if all its communicators hold the same ranks. A GPU's
/// rank is that in the largest communicator to which all GPUs belong; without one, its place among
/// the files. Members that are not traced follow from those that are if they lie at equal
/// distances. Throws ConfigError if the ranks cannot be told.
[[nodiscard]] Run seat(std::vector<Member>& members);

}  // namespace switchfold::nccl_inspector
