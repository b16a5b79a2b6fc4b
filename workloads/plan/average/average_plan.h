// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"

#include <cstdint>

namespace switchfold {

/// How replicas that train by themselves come together.
enum class AverageMethod : std::uint8_t {
    kPeriodic,        ///< all take the mean (local SGD, model averaging)
    kOneShot,         ///< the same, once at the end
    kElastic,         ///< all move towards a centre that each keeps a copy of (EASGD, synchronous)
    kElasticAsync,    ///< each by itself with a centre on the host, whoever else is there
    kModelAveraging,  ///< corrections towards a centre with momentum (SMA, Crossbow)
    kBlockMomentum,   ///< the mean's change goes into a momentum of its own (BMUF)
};

/// Replicas of the whole network, one a GPU, that take steps of their own and exchange weights in
/// between.
struct AveragePlan {
    AverageMethod method = AverageMethod::kPeriodic;
    std::uint32_t every = 16;  ///< steps from one exchange to the next
    bool overlap = false;      ///< an exchange runs beside the next steps: it comes in late
    Bandwidth host_add = gigabytes_per_second(10);  ///< elastic_async: of the host's thread
};

}  // namespace switchfold
