// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <string>
#include <string_view>

namespace switchfold {

/// A text as a JSON string, quotes included; invalid UTF-8 is replaced, not rejected.
[[nodiscard]] inline std::string json_text(std::string_view text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace switchfold
