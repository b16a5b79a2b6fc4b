// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold {

/// A value of a file that this program wrote, with its pointer, for error messages. The JSON and
/// the file's name are kept by reference.
class JsonNode {
public:
    JsonNode(const Json& json, const std::string& file, std::string pointer) :
        json_(json), file_(file), pointer_(std::move(pointer)) {}

    /// Throws ConfigError if there is no such key.
    [[nodiscard]] JsonNode operator[](std::string_view key) const;
    [[nodiscard]] JsonNode item(std::size_t index) const;
    [[nodiscard]] bool has(std::string_view key) const;
    template <class Visit>
    void for_each(const Visit& visit) const {
        expect_list();
        for (std::size_t i = 0; i < json_.size(); ++i)
            visit(item(i));
    }
    template <class Visit>
    void for_each_member(const Visit& visit) const {
        expect(json_.is_object(), "an object");
        for (const auto& [key, value] : json_.items())
            visit(key, JsonNode(value, file_, pointer_ + "/" + escape_token(key)));
    }
    [[nodiscard]] bool is_null() const { return json_.is_null(); }
    /// As JSON.
    [[nodiscard]] std::string text() const { return json_.dump(); }
    [[noreturn]] void fail(std::string message) const;

    void to(std::string& value) const;
    void to(bool& value) const;
    /// Null stands for a number that is not finite.
    void to(double& value) const;
    void to(std::uint64_t& value) const;
    void to(std::uint32_t& value) const;

private:
    void expect(bool right, std::string_view what) const;
    void expect_list() const;

    const Json& json_;
    const std::string& file_;
    std::string pointer_;
};

}  // namespace switchfold
