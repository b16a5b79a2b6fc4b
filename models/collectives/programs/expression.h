// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace switchfold::programs {

/// Names that an expression may use, and what they are.
using Variables = std::map<std::string, std::int64_t, std::less<>>;

/// Value of an expression over whole numbers: + - * / % ( ), comparisons, && || !, min(a, b),
/// max(a, b), and side(n), the largest divisor of n that is not above its root. a % b lies in
/// 0 .. b-1 for negative a too, so that (r - 1) % n is the neighbour before; a / b goes with it.
/// Throws std::invalid_argument with what is wrong and what was expected.
[[nodiscard]] std::int64_t evaluate(std::string_view text, const Variables& variables);

}  // namespace switchfold::programs
