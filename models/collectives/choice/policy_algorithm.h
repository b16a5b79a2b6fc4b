// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params_cursor.h"
#include "core/params_schema.h"
#include "models/collectives/choice/algorithm.h"

#include <memory>
#include <string_view>

namespace switchfold {

namespace programs {
class ProgramFile;
}

/// The algorithm that a policy names: a word, or {"program": FILE}, the path relative to the file
/// that holds it.
struct PolicyAlgorithm {
    Algorithm word = Algorithm::kAuto;
    std::shared_ptr<const programs::ProgramFile> program;  ///< of the word program alone

    PolicyAlgorithm(Algorithm named = Algorithm::kAuto) :
        // NOLINT(google-explicit-constructor)
        word(named) {}
    operator Algorithm() const { return word; }  // NOLINT(google-explicit-constructor)
    /// Equal programs are equal files: read twice, they differ in nothing that a run sees.
    friend bool operator==(const PolicyAlgorithm& a, const PolicyAlgorithm& b);
    friend bool operator==(const PolicyAlgorithm& a, Algorithm b) { return a.word == b; }
};

[[nodiscard]] inline std::string_view enum_name(const PolicyAlgorithm& algorithm) {
    return enum_name(algorithm.word);
}

void read_value(const Cursor& c, PolicyAlgorithm& out);
[[nodiscard]] OrderedJson write_value(const PolicyAlgorithm& value);
template <>
struct SchemaOf<PolicyAlgorithm> {
    static OrderedJson make();
};

}  // namespace switchfold
