// SPDX-License-Identifier: Apache-2.0
#include "core/schema_table.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace switchfold {

namespace {

constexpr std::string_view kDefinitions = "#/$defs/";

class Table {
public:
    Table(std::string_view kind, std::string& out) : kind_(kind), out_(out) {
        out_ += "| key | type | default | meaning |\n|---|---|---|---|\n";
    }

    /// Adds rows for the fields inside a value of this schema.
    void add_rows(const OrderedJson& schema, const std::string& prefix, const std::string& remark) {
        if (schema.contains("properties")) {
            const OrderedJson required = schema.value("required", OrderedJson::array());
            for (const auto& [key, field] : schema["properties"].items())
                if (!key.starts_with('$') && !field.contains("const"))
                    add_row(
                        field, prefix.empty() ? key : prefix + "." + key, remark,
                        needs(required, key));
        } else if (schema.contains("oneOf")) {
            for (const OrderedJson& choice : schema["oneOf"])
                if (!choice.contains("$ref"))
                    add_rows(choice, prefix, remark + fmt::format(" ({})", name_of(choice)));
        } else if (schema.contains("items")) {
            add_rows(schema["items"], prefix + "[]", remark);
        } else if (is_optional(schema)) {
            add_rows(schema["anyOf"][0], prefix, remark);
        } else if (is_named_choice(schema)) {
            add_rows(schema["anyOf"].back(), prefix, remark);
        }
        if (const auto others = schema.find("additionalProperties");
            others != schema.end() && others->is_object())
            add_rows(*others, prefix + ".*", remark);
    }

    /// Type of a value of this schema, in words.
    [[nodiscard]] std::string type(const OrderedJson& schema) const {
        if (const auto found = schema.find("$ref"); found != schema.end())
            return reference(found->get<std::string>());
        if (const auto found = schema.find("enum"); found != schema.end())
            return joined(*found, ", ");
        if (schema.contains("oneOf")) {
            std::string text;
            for (const OrderedJson& choice : schema["oneOf"])
                text +=
                    (text.empty() ? "`type` is " : " or ") +
                    (choice.contains("$ref") ? type(choice) : fmt::format("`{}`", name_of(choice)));
            return text;
        }
        if (is_optional(schema))
            return type(schema["anyOf"][0]) + " or null";
        if (is_named_choice(schema))
            return schema["title"].get<std::string>();
        if (schema.contains("anyOf"))
            return "object or path";
        if (schema.contains("items"))
            return "array: " + type(schema["items"]);
        if (schema.contains("title"))
            return schema["title"].get<std::string>();
        const std::string word = schema.value("type", "any value");
        if (word == "object")
            return schema.contains("properties") && schema["additionalProperties"].is_object()
                       ? "by name: " + type(schema["additionalProperties"])
                       : word;
        if (word == "boolean")
            return "true or false";
        if (word == "string")
            return "text";
        return (word == "integer" ? "whole number" : word) + range(schema);
    }

private:
    static bool is_optional(const OrderedJson& schema) {
        return schema.contains("anyOf") && schema["anyOf"].size() == 2 &&
               schema["anyOf"][1] == OrderedJson{{"type", "null"}};
    }
    /// A choice whose title describes it; its last alternative is the value in place.
    static bool is_named_choice(const OrderedJson& schema) {
        return schema.contains("anyOf") && schema.contains("title");
    }
    static bool needs(const OrderedJson& required, const std::string& key) {
        for (const OrderedJson& name : required)
            if (name == key)
                return true;
        return false;
    }
    static std::string joined(const OrderedJson& words, std::string_view between) {
        std::string text;
        for (const OrderedJson& word : words)
            text += fmt::format("{}`{}`", text.empty() ? "" : between, word.get<std::string>());
        return text;
    }
    static std::string name_of(const OrderedJson& choice) {
        return choice["properties"]["type"]["const"].get<std::string>();
    }
    /// Empty if the range is merely that of the integer type.
    static std::string range(const OrderedJson& schema) {
        if (!schema.contains("minimum"))
            return "";
        const OrderedJson& low = schema["minimum"];
        const OrderedJson& high = schema["maximum"];
        for (const auto& [least, most] :
             {std::pair<OrderedJson, OrderedJson>{0U, std::numeric_limits<std::uint32_t>::max()},
              {0U, std::numeric_limits<std::uint64_t>::max()},
              {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}})
            if (low == least && high == most)
                return "";
        return fmt::format(", {} to {}", low.dump(), high.dump());
    }
    [[nodiscard]] std::string reference(const std::string& target) const {
        if (!target.starts_with(kDefinitions))
            return "object";
        const std::string name = target.substr(kDefinitions.size());
        return fmt::format("[{}](#{}-{})", name, kind_, name);
    }
    /// Members of an object have rows of their own, with their defaults.
    static std::string default_of(const OrderedJson& field) {
        const auto found = field.find("default");
        if (found == field.end())
            return "";
        return found->is_object() && !found->empty() ? "see below"
                                                     : fmt::format("`{}`", found->dump());
    }
    void add_row(
        const OrderedJson& field, const std::string& key, const std::string& remark,
        bool is_required) {
        std::string initial = "required";
        if (!is_required)
            initial = default_of(field);
        out_ += fmt::format(
            "| `{}`{} | {} | {} | {} |\n", key, remark, type(field), initial,
            field.value("description", ""));
        add_rows(field, key, remark);
    }

    std::string_view kind_;
    std::string& out_;
};

/// The alternative written in the file itself, not over a base.
const OrderedJson& in_place(const OrderedJson& schema) {
    return schema.contains("anyOf") ? schema["anyOf"].back() : schema;
}

}  // namespace

std::string schema_table(const OrderedJson& schema, std::string_view kind) {
    std::string out;
    Table root(kind, out);
    const OrderedJson& content = in_place(schema);
    if (content.contains("oneOf"))
        out = fmt::format("{}.\n\n", root.type(content)) + out;
    root.add_rows(content, "", "");
    if (const auto definitions = schema.find("$defs"); definitions != schema.end())
        for (const auto& [name, definition] : definitions->items()) {
            out += fmt::format("\n### {}: {}\n\n", kind, name);
            Table(kind, out).add_rows(definition, "", "");
        }
    return out;
}

}  // namespace switchfold
