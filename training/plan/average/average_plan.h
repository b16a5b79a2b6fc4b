// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// How independently training replicas exchange weights.
enum class AverageMethod : std::uint8_t {
    kPeriodic,  ///< all take the mean (local SGD, model averaging)
    kOneShot,   ///< the same, once at the end
    kElastic,  ///< all move towards a common centre, of which each keeps a copy (synchronous EASGD)
    kElasticAsync,    ///< each exchanges with a centre on the host, independently of the others
    kModelAveraging,  ///< corrections towards a centre that has momentum (SMA, Crossbow)
    kBlockMomentum,   ///< the mean's change updates a momentum of its own (BMUF)
};

/// Replicas of the whole network, each on one or several GPUs, that take independent steps and
/// exchange weights in between.
struct AveragePlan {
    AverageMethod method = AverageMethod::kPeriodic;
    std::uint32_t every = 16;  ///< steps between two exchanges
    bool overlap = false;  ///< an exchange runs beside the following steps; its result arrives late
    Bandwidth host_add = gigabytes_per_second(10);  ///< elastic_async: rate of the host thread
};

}  // namespace switchfold
