// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace switchfold {

/// The text as gzip, in base64: pages unpack it with the browser's DecompressionStream. Equal texts
/// give equal bytes.
[[nodiscard]] std::string packed(std::string_view text);

}  // namespace switchfold
