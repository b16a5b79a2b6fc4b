// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string>

namespace switchfold::validation {

/// Encodes cases, unmatched measurements and notes for the way from a job to the suite.
[[nodiscard]] std::string encode(const SuiteResult& result);
/// Decodes the output of encode() and appends it to a suite.
void append(const std::string& bytes, SuiteResult& suite);

}  // namespace switchfold::validation
