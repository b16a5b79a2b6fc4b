// SPDX-License-Identifier: Apache-2.0
#include "app/astra_sim.h"

#include "core/error.h"
#include "core/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostGraphs = 16'384;

std::string_view stripped(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\"'");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r\"'") - first + 1);
}

/// Of YAML what such networks are written in: a key a line, its value a word or a list in brackets.
class NetworkFile {
public:
    explicit NetworkFile(const fs::path& file) : file_(file.string()) {
        std::ifstream in(file);
        if (!in)
            throw ConfigError(file_, "/", "cannot be read; expected a network of ASTRA-sim (YAML)");
        std::uint32_t line = 0;
        for (std::string row; std::getline(in, row);) {
            ++line;
            const std::string_view text = stripped(std::string_view(row).substr(0, row.find('#')));
            if (text.empty() || text == "---")
                continue;
            const std::size_t colon = text.find(':');
            if (colon == std::string_view::npos)
                throw ConfigError(
                    file_, fmt::format("line {}", line),
                    fmt::format(
                        "is \"{}\"; expected a key and its values: topology: [ Ring ]", text));
            std::string_view list = stripped(text.substr(colon + 1));
            if (list.starts_with('[') != list.ends_with(']'))
                throw ConfigError(
                    file_, fmt::format("line {}", line),
                    "has a list that does not end on its line; expected [ ... ]");
            if (list.starts_with('['))
                list = list.substr(1, list.size() - 2);
            std::vector<std::string>& words = values_[std::string(stripped(text.substr(0, colon)))];
            for (std::size_t from = 0; from <= list.size();) {
                const std::size_t to = std::min(list.find(',', from), list.size());
                if (const auto word = stripped(list.substr(from, to - from)); !word.empty())
                    words.emplace_back(word);
                from = to + 1;
            }
        }
    }

    [[nodiscard]] const std::vector<std::string>& words(const std::string& key) const {
        const auto found = values_.find(key);
        if (found == values_.end() || found->second.empty())
            throw ConfigError(file_, "/" + key, "is missing; expected it for each dimension");
        return found->second;
    }
    [[nodiscard]] double number(const std::string& key, double least, double most) const {
        const std::string& text = words(key).front();
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
            !(value <= most))
            throw ConfigError(
                file_, "/" + key,
                fmt::format("is {}; expected a number from {} to {}", text, least, most));
        return value;
    }
    [[noreturn]] void fail(const std::string& key, const std::string& what) const {
        throw ConfigError(file_, "/" + key, what);
    }
    [[nodiscard]] std::vector<std::string> others() const {
        std::vector<std::string> names;
        for (const auto& [key, value] : values_)
            if (key != "topology" && key != "npus_count" && key != "bandwidth" && key != "latency")
                names.push_back(key);
        return names;
    }

private:
    std::string file_;
    std::map<std::string, std::vector<std::string>> values_;
};

OrderedJson link_of(double gigabytes, double nanoseconds) {
    return {
        {"lane_bandwidth", fmt::format("{} MB/s", static_cast<std::uint64_t>(gigabytes * 1e3))},
        {"latency", fmt::format("{} ps", static_cast<std::uint64_t>(nanoseconds * 1e3))},
        {"buffer_per_lane", "1 MiB"},
        {"$source", "ASTRA-sim's network; it has no packets, and buffers without end"}};
}

OrderedJson topology_of(const NetworkFile& network, std::uint32_t ranks) {
    const std::vector<std::string>& dimensions = network.words("topology");
    if (dimensions.size() != 1)
        network.fail(
            "topology",
            fmt::format(
                "has {} dimensions; expected one: machines in a network are written as a cluster "
                "(docs/systems.md)",
                dimensions.size()));
    constexpr double kMostRanks = 16'384;
    const auto npus = static_cast<std::uint32_t>(network.number("npus_count", 2, kMostRanks));
    if (npus != ranks)
        network.fail(
            "npus_count",
            fmt::format("is {}, and there are {} graphs; expected as many", npus, ranks));
    const double bandwidth = network.number("bandwidth", 0.001, 100'000);
    const double latency = network.number("latency", 0, 1e9);
    const OrderedJson link = link_of(bandwidth, latency);
    const std::string& shape = dimensions.front();
    if (shape == "Switch")
        return {
            {"type", "switched"},
            {"gpus", npus},
            {"lanes_to_switch", OrderedJson::array({1})},
            {"link", link},
            {"switch", {{"latency", "0 ns"}, {"multicast", false}}}};
    if (shape == "FullyConnected")
        return {
            {"type", "full_mesh"},
            {"gpus", npus},
            {"lanes", 1},
            {"link", link},
            {"host_link", link}};
    if (shape == "Ring") {
        OrderedJson edges = OrderedJson::array();
        for (std::uint32_t i = 0; i < (npus == 2 ? 1 : npus); ++i)
            edges.push_back({{"a", i}, {"b", (i + 1) % npus}});
        return {
            {"type", "direct"},
            {"gpus", npus},
            {"edges", edges},
            {"link", link},
            {"host_link", link}};
    }
    network.fail("topology", fmt::format("is {}; expected Ring, FullyConnected or Switch", shape));
}

std::string near_path(const fs::path& folder, const fs::path& to) {
    const fs::path whole = fs::weakly_canonical(to);
    const fs::path near = whole.lexically_relative(fs::weakly_canonical(folder));
    constexpr std::ptrdiff_t kFar = 4;
    return near.empty() || std::count(near.begin(), near.end(), "..") > kFar ? whole.string()
                                                                             : near.string();
}

/// How one kind of collective runs; nothing: no counterpart.
std::optional<OrderedJson>
policy_of(const std::string& word, bool all_reduce, const AstraSimInputs& inputs) {
    if (word == "ring" || word == "oneRing")
        return OrderedJson{{"algorithm", "ring"}};
    if (word.starts_with("direct") && all_reduce)
        return OrderedJson{
            {"algorithm",
             {{"program",
               near_path(inputs.folder, inputs.configs / "programs/all_pairs_all_reduce.json")}}}};
    return {};
}

}  // namespace

std::string experiment_of_astra_sim(const AstraSimInputs& inputs) {
    const Json system = load_json(inputs.system);
    if (!system.is_object())
        throw ConfigError(inputs.system.string(), "/", "is no object; expected ASTRA-sim's system");
    const NetworkFile network(inputs.network);
    std::vector<std::string> graphs;
    for (std::size_t rank = 0; rank < kMostGraphs; ++rank) {
        const fs::path file = fmt::format("{}.{}.et", inputs.workload.string(), rank);
        std::error_code ignored;
        if (!fs::is_regular_file(file, ignored))
            break;
        graphs.push_back(near_path(inputs.folder, file));
    }
    if (graphs.empty())
        throw ConfigError(
            inputs.workload.string() + ".0.et", "/",
            "is not there; expected Chakra graphs, one a rank");
    std::vector<std::string> lost;
    OrderedJson gpu{
        {"$base", near_path(inputs.folder, inputs.configs / "systems/gpus/h100.json")},
        {"name", "ASTRA-sim's NPU"}};
    OrderedJson scenario{{"name", "as given"}};
    const std::array<std::pair<std::string_view, std::string_view>, 3> kinds{
        {{"all-reduce-implementation", "all_reduce"},
         {"all-gather-implementation", "all_gather"},
         {"reduce-scatter-implementation", "reduce_scatter"}}};
    for (const auto& [key, value] : system.items()) {
        const auto* const kind =
            std::ranges::find(kinds, key, [](const auto& pair) { return pair.first; });
        if (kind != kinds.end()) {
            const std::string word = value.is_array() && value.size() == 1 && value[0].is_string()
                                         ? value[0].get<std::string>()
                                         : value.dump();
            if (const auto policy = policy_of(word, kind->second == "all_reduce", inputs))
                scenario["collectives"][std::string(kind->second)] = *policy;
            else
                lost.push_back(fmt::format("{} {}: runs as auto", key, word));
        } else if (key == "peak-perf" && value.is_number() && value > 0) {
            gpu["matrix_rate"] = fmt::format("{} TFLOP/s", value.get<double>());
        } else if (key == "local-mem-bw" && value.is_number() && value > 0) {
            gpu["memory"]["hbm"]["peak"] = fmt::format("{} GB/s", value.get<double>());
        } else if (key != "roofline-enabled" || value == 0) {
            lost.push_back(fmt::format("{} {}", key, value.dump()));
        }
    }
    for (const std::string& key : network.others())
        lost.push_back(fmt::format("{} of the network", key));
    const auto ranks = static_cast<std::uint32_t>(graphs.size());
    OrderedJson files = graphs;
    if (!inputs.groups.empty())
        files.push_back(near_path(inputs.folder, inputs.groups));
    const OrderedJson experiment{
        {"$schema", near_path(inputs.folder, inputs.configs / "schema/experiment.schema.json")},
        {"name", inputs.workload.filename().string()},
        {"system",
         {{"$base", near_path(inputs.folder, inputs.configs / "systems/hgx_h100.json")},
          {"name", "astra_sim"},
          {"measured_as", OrderedJson::array()},
          {"gpu", gpu},
          {"topology", topology_of(network, ranks)}}},
        {"workload", {{"type", "trace"}, {"files", files}}},
        {"scenarios", OrderedJson::array({scenario})}};
    std::string text =
        "// From ASTRA-sim's inputs. Kernels of communication, their protocols and thread blocks, "
        "and what a\n// GPU has beside its peak rates are those of an H100: ASTRA-sim has none.\n";
    for (const std::string& what : lost)
        text += fmt::format("// No counterpart: {}\n", what);
    return text + experiment.dump(2) + "\n";
}

}  // namespace switchfold
