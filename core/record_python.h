// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/record.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace switchfold {

/// The keys of one record's JSON, with their types in Python's words.
struct PythonRecord {
    std::vector<std::pair<std::string, std::string>> always;
    std::vector<std::pair<std::string, std::string>> if_any;  ///< may be left out
};

/// Python's types of records' JSON: a TypedDict a record, those that it holds before it.
class PythonTypes {
public:
    /// Adds a record, if it is new. \returns the name of its type.
    template <Record S>
    std::string add() {
        std::string name = name_of(written_type<S>());
        if (!known_.insert(name).second)
            return name;
        PythonRecord record;
        for_each_of(RecordFields<S>::list(), [&](const auto& described) {
            if constexpr (requires { described.of(std::declval<S&>()); })
                add_member<S>(described, record);
            else
                described.describe(*this, record);
        });
        write(name, record);
        return name;
    }
    /// The type of a value in this form.
    template <class T>
    std::string type(Form form = Form::kPlain) {
        if constexpr (Record<T>)
            return add<T>();
        else if constexpr (NamedEnum<T>)
            return words<T>();
        else if constexpr (std::is_same_v<T, bool>)
            return "bool";
        else if constexpr (std::is_floating_point_v<T>)
            return form == Form::kWhole ? "int" : "float";
        else if constexpr (std::is_integral_v<T>)
            return "int";
        else if constexpr (std::is_same_v<T, std::string>)
            return form == Form::kJsonText ? "Any" : "str";
        else
            return of_several(static_cast<const T*>(nullptr), form);
    }
    /// All types added so far.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    template <class S, class Described>
    void add_member(const Described& described, PythonRecord& record) {
        using T = std::remove_cvref_t<decltype(described.of(std::declval<S&>()))>;
        if (!described.in_json)
            return;
        std::string type_of = optional_if(described.null_if_empty, type<T>(described.form));
        constexpr std::string_view kOptional = "Optional[";
        // Where it is left out there is no null.
        if (described.left_out_if_empty && type_of.starts_with(kOptional))
            type_of = type_of.substr(kOptional.size(), type_of.size() - kOptional.size() - 1);
        (described.left_out_if_empty ? record.if_any : record.always)
            .emplace_back(described.key, std::move(type_of));
    }
    template <class T>
    std::string of_several(const std::optional<T>* /*tag*/, Form form) {
        return optional_if(true, type<T>(form));
    }
    template <class T>
    std::string of_several(const std::vector<T>* /*tag*/, Form form) {
        return "List[" + type<T>(form) + "]";
    }
    template <class T, class Order>
    std::string of_several(const std::map<std::string, T, Order>* /*tag*/, Form form) {
        return "Dict[str, " + type<T>(form) + "]";
    }
    template <NamedEnum E>
    static std::string words() {
        std::string all;
        for (const auto& [value, name] : EnumNames<E>::kNames)
            all += (all.empty() ? "\"" : ", \"") + std::string(name) + "\"";
        return "Literal[" + all + "]";
    }
    static std::string optional_if(bool optional, std::string type) {
        return optional ? "Optional[" + type + "]" : type;
    }
    template <class T>
    static constexpr std::string_view written_type() {
        return __PRETTY_FUNCTION__;
    }
    /// The type that a name of written_type() ends with, without namespaces and "Result".
    static std::string name_of(std::string_view written);
    void write(const std::string& name, const PythonRecord& record);

    std::set<std::string> known_;
    std::string text_;
};

}  // namespace switchfold
