// SPDX-License-Identifier: Apache-2.0
#include "core/version.h"

namespace switchfold {

std::string_view version() {
    return SWITCHFOLD_VERSION;  // defined by CMake
}

}  // namespace switchfold
