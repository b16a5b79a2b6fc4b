// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// The fields of an object in a trace's JSON. A field of null counts as missing. Errors are
/// ConfigErrors on the field.
class JsonFields {
public:
    /// `place` says where the object stands: "/entries/3", "line 7: ". `value` and `file` must
    /// outlive this.
    JsonFields(const Json& value, const std::string& file, std::string place);

    /// Null if the field is missing.
    [[nodiscard]] const Json* find(const char* key) const;
    [[nodiscard]] bool has(const char* key) const { return find(key) != nullptr; }

    /// A whole number, of at most `most`.
    [[nodiscard]] std::uint64_t whole(const char* key, std::uint64_t most) const;
    [[nodiscard]] std::optional<std::uint64_t>
    whole_if_any(const char* key, std::uint64_t most) const;
    /// A number that is not negative, of at most `most`.
    [[nodiscard]] std::optional<double> number_if_any(const char* key, double most) const;
    [[nodiscard]] std::string text(const char* key) const;
    /// Empty if the field is missing.
    [[nodiscard]] std::string text_if_any(const char* key) const;
    [[nodiscard]] std::optional<JsonFields> object_if_any(const char* key) const;
    [[nodiscard]] JsonFields object(const char* key) const;
    /// Empty if the field is missing.
    [[nodiscard]] std::vector<JsonFields> objects(const char* key) const;

    [[noreturn]] void fail(const char* key, std::string_view what) const;
    [[noreturn]] void fail(std::string_view what) const;

private:
    [[noreturn]] void
    fail_expecting(const char* key, const Json& value, std::string_view expected) const;
    [[noreturn]] void fail_missing(const char* key, std::string_view expected) const;

    const Json* value_;
    const std::string* file_;
    std::string place_;
};

}  // namespace switchfold
