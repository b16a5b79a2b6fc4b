// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topologies/direct.h"

namespace switchfold {

/// NVIDIA's hybrid cube mesh; see configs/systems/dgx1_v100.json.
inline DirectTopology cube_mesh() {
    DirectTopology t;
    t.gpus = 8;
    t.edges = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1},
               {1, 5, 2}, {2, 3, 2}, {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1},
               {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
    return t;
}

}  // namespace switchfold
