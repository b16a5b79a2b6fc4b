// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace switchfold::fuzz {

/// Names of all readers. Each has a folder of the corpus, from which its fuzzer takes its name, and
/// a dictionary.
[[nodiscard]] std::vector<std::string_view> readers();

/// Reads the bytes as a file of this kind. \returns whether they were accepted; false if they were
/// rejected as a user error. Any other exception is a bug. An accepted workload must also pass all
/// analyses and a round trip through switchfold's own format.
bool try_reader(std::string_view reader, std::string_view bytes);

}  // namespace switchfold::fuzz
