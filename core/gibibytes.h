// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

[[nodiscard]] constexpr double in_gibibytes(double bytes) {
    return bytes / (1024.0 * 1024 * 1024);
}

}  // namespace switchfold
