// SPDX-License-Identifier: Apache-2.0
#include "sim/config/neural_network_params.h"

#include "core/error.h"
#include "core/named_path.h"
#include "core/params_reader.h"
#include "core/params_writer.h"
#include "training/network/profile.h"
#include "training/network/table.h"
#include "training/network/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace switchfold {

namespace {

bool is_name(const std::string& text) {
    const auto names = network_names();
    return std::find(names.begin(), names.end(), text) != names.end();
}

/// Names of networks contain neither dots nor slashes.
bool looks_like_a_path(const std::string& text) {
    return text.find_first_of("./\\") != std::string::npos;
}

/// Name in results for a network without one.
template <class Shape>
std::string title_of(const Shape& shape) {
    return fmt::format("{} of {} blocks, width {}", Shape::kType, shape.layers, shape.hidden);
}

}  // namespace

std::filesystem::path NeuralNetworkParams::file() const {
    if (shape) {
        const auto* profile = std::get_if<ProfileParams>(&*shape);
        return profile == nullptr ? "" : profile->file;
    }
    return is_name(text) ? "" : text;
}

void read_value(const Cursor& c, NeuralNetworkParams& out) {
    if (c.value->is_object()) {
        out.text.clear();
        read_value(c, out.shape);
        return;
    }
    if (!c.value->is_string()) {
        fail_type(c, "the name of a network, the path of a table, or an object with its shape");
        return;
    }
    out.shape.reset();
    out.text = c.value->get<std::string>();
    if (!is_name(out.text) && !looks_like_a_path(out.text))
        fail_unknown(c, fmt::format("network {}", shown(*c.value)), out.text, network_names());
}

OrderedJson write_value(const NeuralNetworkParams& value) {
    return value.shape ? write_value(*value.shape) : OrderedJson(value.text);
}

OrderedJson SchemaOf<NeuralNetworkParams>::make() {
    OrderedJson names = OrderedJson::array();
    for (const std::string_view name : network_names())
        names.push_back(std::string(name));
    return {
        {"title", "name, path or object"},
        {"anyOf", OrderedJson::array(
                      {{{"enum", std::move(names)}},
                       {{"type", "string"},
                        {"pattern", "[./\\\\]"},
                        {"description", "Path of a table of layers, relative to this file."}},
                       SchemaOf<NetworkShape>::make()})}};
}

Network make_network(const NeuralNetworkParams& params, const std::filesystem::path& folder) {
    const auto path = path_from(folder, params.file());
    if (!params.shape) {
        auto named = find_network(params.text);
        return named ? *std::move(named) : read_network_table(path);
    }
    return std::visit(
        [&](const auto& shape) {
            if constexpr (std::is_same_v<std::decay_t<decltype(shape)>, ProfileParams>)
                return read_profile_graph(path, shape.batch);
            else
                return decoder(title_of(shape), shape);
        },
        *params.shape);
}

}  // namespace switchfold
