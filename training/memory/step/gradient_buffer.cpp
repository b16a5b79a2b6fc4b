// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/gradient_buffer.h"

#include "core/error.h"

namespace switchfold {

std::optional<std::uint32_t> GradientBuffer::take(std::size_t group) {
    used_ += groups_[group].bytes;
    std::optional<std::uint32_t> wait;
    for (; used_ > bytes_ && reused_ < freed_.size(); ++reused_) {
        used_ -= freed_[reused_].bytes;
        wait = freed_[reused_].operation;
    }
    SWITCHFOLD_CHECK(used_ <= bytes_, "backward waits for a gradient that nobody updates");
    return wait;
}

}  // namespace switchfold
