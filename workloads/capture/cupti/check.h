// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

#include <stdexcept>
#include <string>

namespace switchfold::capture {

/// Throws std::runtime_error with the step and CUPTI's reason if a call failed.
inline void check_cupti(CUptiResult result, const char* step) {
    if (result == CUPTI_SUCCESS)
        return;
    const char* reason = nullptr;
    if (cuptiGetErrorMessage(result, &reason) != CUPTI_SUCCESS || reason == nullptr)
        reason = "unknown error";
    throw std::runtime_error(std::string("CUPTI: ") + step + ": " + reason);
}

}  // namespace switchfold::capture
