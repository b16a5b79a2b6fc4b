// SPDX-License-Identifier: Apache-2.0
#include "core/schema_defs.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace switchfold {

namespace {

/// Keywords that belong to the field, not to the shared definition.
constexpr const char* kOwnWords[] = {"description", "default"};

OrderedJson without_own_words(OrderedJson schema) {
    for (const char* word : kOwnWords)
        schema.erase(word);
    return schema;
}

/// An object with all its properties, or a choice of such objects.
bool can_be_shared(const OrderedJson& schema) {
    return schema.is_object() &&
           (schema.contains("oneOf") ||
            (schema.contains("properties") && schema.contains("additionalProperties")));
}

/// Calls `visit` with each schema directly inside this one and a name for it.
void for_each_inside(
    OrderedJson& schema, const std::string& name,
    const std::function<void(OrderedJson&, const std::string&)>& visit) {
    if (!schema.is_object())
        return;
    if (const auto found = schema.find("properties"); found != schema.end())
        for (auto& [key, inside] : found->items())
            visit(inside, key);
    for (const char* key : {"items", "additionalProperties"})
        if (const auto found = schema.find(key); found != schema.end())
            visit(*found, name);
    for (const char* key : {"anyOf", "oneOf"})
        if (const auto found = schema.find(key); found != schema.end())
            for (OrderedJson& choice : *found) {
                const OrderedJson::json_pointer type("/properties/type/const");
                visit(choice, choice.contains(type) ? choice.at(type).get<std::string>() : name);
            }
}

class Sharer {
public:
    explicit Sharer(OrderedJson& schema) {
        count(schema, "");
        replace_inside(schema, "");
        while (put_one_back(schema)) {
        }
        if (!definitions_.empty())
            schema["$defs"] = std::move(definitions_);
    }

private:
    static std::string reference(const std::string& name) { return "#/$defs/" + name; }

    void count(OrderedJson& schema, const std::string& name) {
        if (can_be_shared(schema))
            ++counts_[without_own_words(schema).dump()];
        for_each_inside(schema, name, [this](OrderedJson& inside, const std::string& called) {
            count(inside, called);
        });
    }

    void replace_inside(OrderedJson& schema, const std::string& name) {
        for_each_inside(schema, name, [this](OrderedJson& inside, const std::string& called) {
            replace(inside, called);
        });
    }

    void replace(OrderedJson& schema, const std::string& name) {
        const std::string text = can_be_shared(schema) ? without_own_words(schema).dump() : "";
        const auto counted = counts_.find(text);
        if (counted == counts_.end() || counted->second < 2) {
            replace_inside(schema, name);
            return;
        }
        auto [known, is_new] = names_.try_emplace(text, name);
        if (is_new) {
            for (unsigned number = 2; definitions_.contains(known->second); ++number)
                known->second = fmt::format("{}_{}", name, number);
            const std::string chosen = known->second;
            definitions_[chosen] = nullptr;  // keeps the order of first use
            OrderedJson definition = without_own_words(schema);
            replace_inside(definition, chosen);
            definitions_[chosen] = std::move(definition);
        }
        OrderedJson shared{{"$ref", reference(names_.at(text))}};
        for (const char* word : kOwnWords)
            if (schema.contains(word))
                shared[word] = schema[word];
        schema = std::move(shared);
    }

    /// Inlines one definition that is referenced only once. \returns whether there was one.
    bool put_one_back(OrderedJson& schema) {
        std::map<std::string, std::size_t> used;
        count_references(schema, used);
        for (auto& [name, definition] : definitions_.items())
            count_references(definition, used);
        for (const auto& [name, definition] : definitions_.items())
            if (used[name] < 2) {
                const std::string lone = name;
                const OrderedJson body = definition;
                definitions_.erase(lone);
                put_back(schema, lone, body);
                for (auto& [other, into] : definitions_.items())
                    put_back(into, lone, body);
                return true;
            }
        return false;
    }

    static void count_references(OrderedJson& schema, std::map<std::string, std::size_t>& used) {
        constexpr std::size_t kStart = 8;
        if (schema.is_object() && schema.contains("$ref") &&
            schema["$ref"].get_ref<const std::string&>().starts_with("#/$defs/"))
            ++used[schema["$ref"].get<std::string>().substr(kStart)];
        for_each_inside(schema, "", [&used](OrderedJson& inside, const std::string&) {
            count_references(inside, used);
        });
    }

    static void put_back(OrderedJson& schema, const std::string& name, const OrderedJson& body) {
        if (schema.is_object() && schema.contains("$ref") && schema["$ref"] == reference(name)) {
            OrderedJson whole = body;
            for (const char* word : kOwnWords)
                if (schema.contains(word))
                    whole[word] = schema[word];
            schema = std::move(whole);
            return;
        }
        for_each_inside(schema, "", [&](OrderedJson& inside, const std::string&) {
            put_back(inside, name, body);
        });
    }

    std::map<std::string, std::size_t> counts_;  ///< by the schema's text
    std::map<std::string, std::string> names_;
    OrderedJson definitions_ = OrderedJson::object();
};

}  // namespace

void share_definitions(OrderedJson& schema) {
    Sharer{schema};
}

}  // namespace switchfold
