// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string_view>

namespace switchfold::validation {

inline constexpr std::string_view kPublishedGroup = "published";

/// Single measurements of kernels beside a collective, from published_overlap.csv and a forum post.
/// Adds a case for each that states enough for a simulation; the others become unmatched, with the
/// reason. The kernels' shapes are not published; notes state the assumptions.
void add_published(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
