// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/expression.h"

#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <vector>

namespace switchfold::programs {

namespace {

constexpr std::int64_t kMost = 1LL << 40;  // products of two such are refused, not wrapped
constexpr std::uint32_t kDeepest = 64;

/// Recursive descent, a level a precedence.
class Parser {
public:
    Parser(std::string_view text, const Variables& variables) :
        text_(text), variables_(variables) {}

    std::int64_t whole() {
        const std::int64_t value = either();
        skip();
        if (at_ != text_.size())
            fail("an operator");
        return value;
    }

private:
    [[noreturn]] void fail(std::string_view expected) const {
        throw std::invalid_argument(
            fmt::format("is \"{}\"; expected {} at character {}", text_, expected, at_ + 1));
    }
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ')
            ++at_;
    }
    bool take(std::string_view sign) {
        skip();
        if (!text_.substr(at_).starts_with(sign))
            return false;
        at_ += sign.size();
        return true;
    }
    [[nodiscard]] std::int64_t bounded(std::int64_t value) const {
        if (value > kMost || value < -kMost)
            throw std::invalid_argument(
                fmt::format("is \"{}\", which grows beyond 2^40; expected less", text_));
        return value;
    }
    std::int64_t either() {
        std::int64_t value = both();
        while (take("||")) {
            const std::int64_t right = both();
            value = value != 0 || right != 0 ? 1 : 0;
        }
        return value;
    }
    std::int64_t both() {
        std::int64_t value = comparison();
        while (take("&&")) {
            const std::int64_t right = comparison();
            value = value != 0 && right != 0 ? 1 : 0;
        }
        return value;
    }
    std::int64_t comparison() {
        const std::int64_t left = sum();
        if (take("=="))
            return left == sum() ? 1 : 0;
        if (take("!="))
            return left != sum() ? 1 : 0;
        if (take("<="))
            return left <= sum() ? 1 : 0;
        if (take(">="))
            return left >= sum() ? 1 : 0;
        if (take("<"))
            return left < sum() ? 1 : 0;
        if (take(">"))
            return left > sum() ? 1 : 0;
        return left;
    }
    std::int64_t sum() {
        std::int64_t value = product();
        while (true) {
            if (take("+"))
                value = bounded(value + product());
            else if (take("-"))
                value = bounded(value - product());
            else
                return value;
        }
    }
    std::int64_t product() {
        std::int64_t value = factor();
        while (true) {
            if (take("*")) {
                const std::int64_t right = factor();
                if (right != 0 && std::abs(value) > kMost / std::abs(right))
                    value = bounded(kMost + 1);
                value *= right;
            } else if (take("/")) {
                const std::int64_t right = divisor();
                value = (value - remainder(value, right)) / right;
            } else if (take("%")) {
                value = remainder(value, divisor());
            } else {
                return value;
            }
        }
    }
    std::int64_t divisor() {
        const std::int64_t right = factor();
        if (right <= 0)
            throw std::invalid_argument(
                fmt::format("is \"{}\", which divides by {}; expected 1 or more", text_, right));
        return right;
    }
    static std::int64_t remainder(std::int64_t value, std::int64_t by) {
        return (value % by + by) % by;
    }
    std::int64_t factor() {
        if (++depth_ > kDeepest)
            fail("fewer brackets");
        std::int64_t value = 0;
        if (take("(")) {
            value = either();
            expect(")");
        } else if (take("-")) {
            value = -factor();
        } else if (take("!")) {
            value = factor() == 0 ? 1 : 0;
        } else {
            value = word();
        }
        --depth_;
        return value;
    }
    void expect(std::string_view sign) {
        if (!take(sign))
            fail(fmt::format("\"{}\"", sign));
    }
    std::int64_t word() {
        skip();
        const std::size_t first = at_;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
        if (at_ > first) {
            if (at_ - first > 12)
                fail("a number below 2^40");
            return bounded(std::stoll(std::string(text_.substr(first, at_ - first))));
        }
        while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0)
            ++at_;
        const std::string_view name = text_.substr(first, at_ - first);
        if (name.empty())
            fail("a number or a name");
        if (take("("))
            return call(name);
        const auto found = variables_.find(name);
        if (found == variables_.end()) {
            std::vector<std::string_view> known;
            for (const auto& [other, value] : variables_)
                known.emplace_back(other);
            throw std::invalid_argument(fmt::format(
                "is \"{}\", where \"{}\" is not defined{}; expected one of: {}", text_, name,
                did_you_mean(name, known), fmt::join(known, ", ")));
        }
        return found->second;
    }
    std::int64_t call(std::string_view name) {
        std::vector<std::int64_t> given{either()};
        while (take(","))
            given.push_back(either());
        expect(")");
        if (name == "min" && given.size() == 2)
            return std::min(given[0], given[1]);
        if (name == "max" && given.size() == 2)
            return std::max(given[0], given[1]);
        if (name == "side" && given.size() == 1) {
            std::int64_t side = 1;
            for (std::int64_t d = 1; d * d <= std::min<std::int64_t>(given[0], 1 << 20U); ++d)
                if (given[0] % d == 0)
                    side = d;
            return side;
        }
        fail("min(a, b), max(a, b) or side(n)");
    }

    std::string_view text_;
    const Variables& variables_;
    std::size_t at_ = 0;
    std::uint32_t depth_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const Variables& variables) {
    return Parser(text, variables).whole();
}

}  // namespace switchfold::programs
