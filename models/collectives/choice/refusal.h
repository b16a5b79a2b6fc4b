// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace switchfold {

/// Why a library does not run a call, and what is to blame for it.
struct Refusal {
    std::string why;    ///< empty: it runs it
    std::string field;  ///< of the policy, that asks for it
    /// Of that field; empty if `why` says what it is.
    std::string_view value;
    std::string_view expected;  ///< instead; empty if `why` says it
    explicit operator bool() const { return !why.empty(); }
};

}  // namespace switchfold
