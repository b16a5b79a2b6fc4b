// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string_view>

namespace switchfold::validation {

inline constexpr std::string_view kPublishedGroup = "published";

/// Single measurements of kernels beside a collective, from published_overlap.csv and the forum:
/// adds a case for each that says enough to be simulated, and the others as unmatched, with why.
/// The kernels' shapes are not published; what is assumed of them stands in the notes.
void add_published(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
