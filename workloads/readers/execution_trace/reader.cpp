// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/execution_trace/reader.h"

#include "core/error.h"
#include "workloads/readers/kineto/scanner.h"

#include <fmt/format.h>

#include <optional>

#include <simdjson.h>

namespace switchfold {

namespace {

namespace od = simdjson::ondemand;

struct Parsed {
    ExecutionTrace::Node node;
    bool has_id = false;
    std::optional<std::uint64_t> record;
};

std::string raw(od::value value) {
    return std::string(std::string_view(value.get_array().value().raw_json()));
}

/// Newer schemas group an operator's inputs in one object...
void read_inputs(od::object inputs, ExecutionTrace::Node& node) {
    for (auto field : inputs) {
        const std::string key(std::string_view(field.unescaped_key()));
        if (key == "shapes")
            node.input_dims = raw(field.value());
        else if (key == "types")
            node.input_types = raw(field.value());
    }
}

/// ... and list the rest as {"name", "type", "value"}.
void read_attributes(od::array attributes, Parsed& parsed) {
    for (auto item : attributes) {
        std::string name;
        for (auto field : item.get_object()) {
            const std::string key(std::string_view(field.unescaped_key()));
            if (key == "name")
                name = std::string(std::string_view(field.value().get_string()));
            else if (key == "value" && name == "rf_id")
                parsed.record = field.value().get_uint64().value();
        }
    }
}

Parsed parse_node(od::parser& parser, std::string& text) {
    const std::size_t size = text.size();
    text.resize(size + simdjson::SIMDJSON_PADDING);
    Parsed parsed;
    od::document document = parser.iterate(text.data(), size, text.size());
    for (auto field : document.get_object()) {
        const std::string key(std::string_view(field.unescaped_key()));
        od::value value = field.value();
        if (key == "id") {
            static_cast<void>(value.get_uint64().value());
            parsed.has_id = true;
        } else if (key == "name") {
            parsed.node.name = std::string(std::string_view(value.get_string()));
        } else if (key == "rf_id") {
            parsed.record = value.get_uint64().value();
        } else if (key == "input_shapes") {
            parsed.node.input_dims = raw(value);
        } else if (key == "input_types") {
            parsed.node.input_types = raw(value);
        } else if (key == "inputs" && value.type() == od::json_type::object) {
            read_inputs(value.get_object(), parsed.node);
        } else if (key == "attrs") {
            read_attributes(value.get_array(), parsed);
        }
    }
    return parsed;
}

}  // namespace

ExecutionTrace read_execution_trace(const std::filesystem::path& file, std::uint64_t most) {
    ExecutionTrace trace;
    trace.file = file.string();
    TraceScanner::Limits limits;
    limits.inflated = most;
    TraceScanner scanner(file, limits, "nodes");
    od::parser parser;
    scanner.run([&](std::string& text, std::uint64_t offset) {
        const auto fail = [&](std::string_view what) {
            throw ConfigError(
                trace.file, fmt::format("byte {}", offset),
                fmt::format("node {}: {}", trace.nodes, what));
        };
        try {
            Parsed parsed = parse_node(parser, text);
            if (!parsed.has_id || parsed.node.name.empty())
                fail("has no id or no name; expected both");
            if (parsed.record && *parsed.record > 0 &&
                !trace.by_record.emplace(*parsed.record, std::move(parsed.node)).second)
                fail(fmt::format("rf_id {} appears twice; expected it once", *parsed.record));
        } catch (const simdjson::simdjson_error& error) {
            fail(fmt::format("is malformed ({}); expected a node", error.what()));
        }
        ++trace.nodes;
    });
    if (trace.nodes == 0)
        throw ConfigError(trace.file, "/nodes", "is empty; expected a trace with nodes");
    return trace;
}

bool is_execution_trace(std::string_view beginning) {
    return beginning.find("\"traceEvents\"") == std::string_view::npos &&
           beginning.find("\"schema\"") != std::string_view::npos &&
           beginning.find("\"nodes\"") != std::string_view::npos;
}

}  // namespace switchfold
