// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/decoder.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/tests/test_gpus.h"

#include <cstdint>

namespace switchfold::test_data {

inline Network small_gpt(std::uint32_t layers = 8) {
    GptShape shape;
    shape.layers = layers;
    shape.hidden = 512;
    shape.heads = 8;
    shape.sequence = 256;
    shape.vocabulary = 1024;
    return decoder("small", shape);
}

inline const KernelTimes& a100() {
    static const KernelTimes times(test_data::ampere());
    return times;
}

}  // namespace switchfold::test_data
