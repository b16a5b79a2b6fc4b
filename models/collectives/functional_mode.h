// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchfold {

/// What a running collective also is if it can carry numbers, for functional mode.
class Functional {
public:
    Functional() = default;
    Functional(const Functional&) = delete;
    Functional& operator=(const Functional&) = delete;
    Functional(Functional&&) = delete;
    Functional& operator=(Functional&&) = delete;

    /// Each member's buffer, by position.
    [[nodiscard]] virtual std::vector<std::vector<float>>& buffers() = 0;
    /// Each member's result, by position.
    [[nodiscard]] virtual std::vector<std::vector<float>>& results() { return buffers(); }
    /// Errors in members' results, for collectives that check themselves.
    [[nodiscard]] virtual std::string wrong_result() const { return {}; }

protected:
    ~Functional() = default;
};

}  // namespace switchfold
