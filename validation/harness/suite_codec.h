// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string>

namespace switchfold::validation {

/// Bytes that carry cases, unmatched measurements and notes from a job to the suite.
[[nodiscard]] std::string encode(const SuiteResult& result);
/// Appends what encode() wrote to a suite.
void append(const std::string& bytes, SuiteResult& suite);

}  // namespace switchfold::validation
