// SPDX-License-Identifier: Apache-2.0
#include "sim/config/astra_network.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

namespace switchfold {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kAstraShapes{"Ring", "FullyConnected", "Switch"};

std::string_view stripped(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\"'");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r\"'") - first + 1);
}

std::string_view example_of(std::string_view key) {
    return key == "topology"     ? "topology: [ Ring ]"
           : key == "npus_count" ? "npus_count: [ 8 ]"
           : key == "bandwidth"  ? "bandwidth: [ 50.0 ] (GB/s)"
                                 : "latency: [ 500.0 ] (ns)";
}

/// Of YAML what such networks are written in: a key a line, its value a word, a list in brackets
/// or lines that begin with a dash.
class NetworkFile {
public:
    explicit NetworkFile(const fs::path& file) : file_(file.string()) {
        std::ifstream in(file);
        if (!in)
            throw ConfigError(
                file_, "/",
                "does not exist or cannot be read; expected a network of ASTRA-sim's analytical "
                "backends (YAML)");
        std::uint32_t line = 0;
        std::vector<std::string>* last = nullptr;
        for (std::string row; std::getline(in, row);) {
            ++line;
            const std::string_view text = stripped(std::string_view(row).substr(0, row.find('#')));
            if (text.empty() || text == "---")
                continue;
            if (text.starts_with("- ") && last != nullptr) {
                last->emplace_back(stripped(text.substr(1)));
                continue;
            }
            const std::size_t colon = text.find(':');
            if (colon == std::string_view::npos)
                throw ConfigError(
                    file_, fmt::format("line {}", line),
                    fmt::format(
                        "is {}; expected a key and its values, such as topology: [ Ring ]",
                        Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)));
            std::string_view list = stripped(text.substr(colon + 1));
            if (list.starts_with('[') != list.ends_with(']'))
                throw ConfigError(
                    file_, fmt::format("line {}", line),
                    "has a list without its begin or end; expected [ ... ] on one line");
            if (list.starts_with('['))
                list = list.substr(1, list.size() - 2);
            std::vector<std::string>& words = values_[std::string(stripped(text.substr(0, colon)))];
            for (std::size_t from = 0; from <= list.size();) {
                const std::size_t to = std::min(list.find(',', from), list.size());
                if (const auto word = stripped(list.substr(from, to - from)); !word.empty())
                    words.emplace_back(word);
                from = to + 1;
            }
            last = &words;
        }
    }

    [[nodiscard]] const std::vector<std::string>& words(const std::string& key) const {
        const auto found = values_.find(key);
        if (found != values_.end() && !found->second.empty())
            return found->second;
        std::vector<std::string_view> there;
        for (const auto& [name, value] : values_)
            there.push_back(name);
        const std::string near = found == values_.end() ? nearest(key, there) : std::string();
        fail(
            key, fmt::format(
                     "{}{}; expected a value for each dimension, such as {}",
                     found == values_.end() ? "is missing" : "is empty",
                     near.empty() ? "" : fmt::format(", did you mean it by \"{}\"?", near),
                     example_of(key)));
    }
    /// A dimension's number, from `least` to `most`.
    [[nodiscard]] double number(
        const std::string& key, std::size_t dimension, double least, double most,
        std::string_view expected) const {
        const std::size_t dimensions = words("topology").size();
        const std::vector<std::string>& given = words(key);
        if (given.size() != dimensions)
            fail(
                key, fmt::format(
                         "has {} value{}, and topology has {}; expected one for each dimension",
                         given.size(), given.size() == 1 ? "" : "s", dimensions));
        const std::string& text = given[dimension];
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = key != "npus_count" || value == std::floor(value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
            !(value <= most) || !whole)
            fail(
                key,
                fmt::format(
                    "is {}; expected {} from {:.12g} to {:.12g}", text, expected, least, most));
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

OrderedJson astra_link(double gigabytes, double nanoseconds) {
    return {
        {"lane_bandwidth", fmt::format("{} MB/s", static_cast<std::uint64_t>(gigabytes * 1e3))},
        {"latency", fmt::format("{} ps", static_cast<std::uint64_t>(nanoseconds * 1e3))},
        {"buffer_per_lane", "1 MiB"},
        {"$source", "ASTRA-sim's network; it has no packets, and buffers without end"}};
}

/// GB/s of all links of an NPU in this dimension.
double of_npu(const AstraDimension& dimension) {
    const std::uint32_t ways = dimension.shape == "Switch" ? 1
                               : dimension.shape == "Ring" ? std::min(2U, dimension.npus - 1)
                                                           : dimension.npus - 1;
    return dimension.bandwidth * ways;
}

/// ASTRA-sim's NPUs hand on what is for others; here a router beside each does.
class SeveralDimensions {
public:
    explicit SeveralDimensions(const std::vector<AstraDimension>& dimensions) :
        dimensions_(dimensions) {
        for (const AstraDimension& dimension : dimensions) {
            strides_.push_back(ranks_);
            ranks_ *= dimension.npus;
        }
    }

    OrderedJson run() {
        double all = 0;
        for (std::size_t d = 0; d < dimensions_.size(); ++d) {
            const AstraDimension& of = dimensions_[d];
            links_[name(d)] = astra_link(of.bandwidth, of.latency);
            all += of_npu(of);
        }
        links_["own"] = astra_link(all, 0);
        for (std::uint32_t r = 0; r < ranks_; ++r) {
            nodes_.push_back({{"name", fmt::format("{}", r)}, {"kind", "gpu"}});
            add_switch(router(r));
            join(fmt::format("{}", r), router(r), "own");
        }
        for (std::size_t d = 0; d < dimensions_.size(); ++d)
            for (std::uint32_t r = 0; r < ranks_; ++r)
                if (r / strides_[d] % dimensions_[d].npus == 0)
                    add_line(d, r);
        return {
            {"type", "graph"},
            {"nodes", nodes_},
            {"edges", edges_},
            {"links", links_},
            {"switches", {{"router", {{"latency", "0 ns"}, {"multicast", false}}}}}};
    }

private:
    static std::string name(std::size_t d) { return fmt::format("dimension_{}", d); }
    static std::string router(std::uint32_t rank) { return fmt::format("router_{}", rank); }
    void add_switch(const std::string& called) {
        nodes_.push_back({{"name", called}, {"kind", "switch"}, {"type", "router"}});
    }
    void join(const std::string& a, const std::string& b, const std::string& type) {
        edges_.push_back({{"a", a}, {"b", b}, {"type", type}});
    }
    /// The links of the ranks that differ from the first in this dimension alone.
    void add_line(std::size_t d, std::uint32_t first) {
        const AstraDimension& of = dimensions_[d];
        const auto at = [&](std::uint32_t i) { return router(first + i * strides_[d]); };
        if (of.shape == "Switch") {
            const std::string called = fmt::format("{}_of_{}", name(d), first);
            add_switch(called);
            for (std::uint32_t i = 0; i < of.npus; ++i)
                join(at(i), called, name(d));
            return;
        }
        const bool ring = of.shape == "Ring";
        for (std::uint32_t i = 0; i < of.npus; ++i)
            for (std::uint32_t j = i + 1; j < of.npus; ++j)
                if (!ring || j == i + 1 || (i == 0 && j + 1 == of.npus))
                    join(at(i), at(j), name(d));
    }

    const std::vector<AstraDimension>& dimensions_;
    std::vector<std::uint32_t> strides_;
    std::uint32_t ranks_ = 1;
    OrderedJson nodes_ = OrderedJson::array();
    OrderedJson edges_ = OrderedJson::array();
    OrderedJson links_ = OrderedJson::object();
};

}  // namespace

AstraNetwork read_astra_network(const std::filesystem::path& file, std::uint32_t ranks) {
    const NetworkFile network(file);
    constexpr double kMostRanks = 16'384;
    constexpr double kMostOfLink = 10'000;      // GB/s; a link of ours has no more
    constexpr std::uint32_t kMostOfMesh = 256;  // GPUs of such topologies
    constexpr std::uint32_t kMostOfRing = 1024;
    constexpr double kLongest = 1e7;  // ns, likewise
    AstraNetwork made;
    std::uint64_t all = 1;
    const std::vector<std::string>& shapes = network.words("topology");
    for (std::size_t d = 0; d < shapes.size(); ++d) {
        const std::string& shape = shapes[d];
        if (std::ranges::find(kAstraShapes, shape) == kAstraShapes.end()) {
            const std::string near = nearest(shape, kAstraShapes);
            network.fail(
                "topology", fmt::format(
                                "is {}{}; expected Ring, FullyConnected or Switch", shape,
                                near.empty() ? "" : fmt::format(", did you mean {}?", near)));
        }
        made.dimensions.push_back(
            {shape,
             static_cast<std::uint32_t>(
                 network.number("npus_count", d, 2, kMostRanks, "a whole number of NPUs")),
             network.number("bandwidth", d, 0.001, kMostOfLink, "GB/s"),
             network.number("latency", d, 0, kLongest, "ns")});
        all = std::min<std::uint64_t>(all * made.dimensions.back().npus, UINT32_MAX);
    }
    if (all != ranks)
        network.fail(
            "npus_count",
            fmt::format(
                "multiplies to {} NPUs, but the workload has {} graphs; expected a graph for each "
                "NPU",
                all, ranks));
    const AstraDimension& first = made.dimensions.front();
    const std::uint32_t most = first.shape == "FullyConnected" ? kMostOfMesh : kMostOfRing;
    if (made.dimensions.size() == 1 && first.shape != "Switch" && first.npus > most)
        network.fail(
            "npus_count", fmt::format(
                              "is {} for {}; expected at most {} in one dimension", first.npus,
                              first.shape, most));
    double of_all = 0;
    for (const AstraDimension& dimension : made.dimensions)
        of_all += of_npu(dimension);
    if (made.dimensions.size() > 1 && of_all > kMostOfLink)
        network.fail(
            "bandwidth", fmt::format(
                             "gives an NPU {} GB/s over all dimensions; expected at most {}",
                             of_all, kMostOfLink));
    made.unknown = network.others();
    return made;
}

OrderedJson topology_of(const AstraNetwork& network) {
    if (network.dimensions.size() > 1)
        return SeveralDimensions(network.dimensions).run();
    const auto& [shape, npus, bandwidth, latency] = network.dimensions.front();
    const OrderedJson link = astra_link(bandwidth, latency);
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
    OrderedJson edges = OrderedJson::array();
    for (std::uint32_t i = 0; i < (npus == 2 ? 1 : npus); ++i)
        edges.push_back({{"a", i}, {"b", (i + 1) % npus}});
    return {
        {"type", "direct"}, {"gpus", npus}, {"edges", edges}, {"link", link}, {"host_link", link}};
}

}  // namespace switchfold
