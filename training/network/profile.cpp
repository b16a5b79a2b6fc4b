// SPDX-License-Identifier: Apache-2.0
#include "training/network/profile.h"

#include "core/error.h"
#include "core/text.h"
#include "core/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace switchfold {

namespace {

constexpr std::string_view kBetween = " -- ";
constexpr double kBytes = 4;            // per element
constexpr double kMicroseconds = 1000;  // per millisecond
constexpr double kMostValue = 1e15;

/// Prefixes of PyTorch's operator names, and the layer types used here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kTypes{
    {{"Conv2d", "conv"},
     {"Linear", "linear"},
     {"LSTM", "lstm"},
     {"EmuBidirLSTM", "lstm"},
     {"RecurrentAttention", "lstm"},
     {"Classifier", "linear"},
     {"Embedding", "embedding"},
     {"BatchNorm", "batchnorm"},
     {"ReLU", "relu"},
     {"MaxPool", "maxpool"},
     {"AvgPool", "avgpool"},
     {"AdaptiveAvgPool", "avgpool"},
     {"Concat", "concat"}}};

/// The operator's layer type, or its name without arguments if there is none.
std::string type_of(std::string_view op) {
    for (const auto& [begin, type] : kTypes)
        if (op.starts_with(begin))
            return std::string(type);
    return lower(op.substr(0, op.find('(')));
}

struct ProfileNode {
    Layer layer;
    bool is_input = false;
    std::set<std::uint64_t> producers;
    std::set<std::uint64_t> readers;
};

class GraphReader {
public:
    GraphReader(std::string_view text, const std::string& label, std::uint32_t batch) :
        label_(label), lines_(split_text(text, '\n')), batch_(batch) {
        SWITCHFOLD_CHECK(batch > 0, "a profile of a batch of no sample");
    }

    Network run() {
        // Edges may refer to nodes on later lines.
        for (const bool edges : {false, true}) {
            for (line_ = 1; line_ <= lines_.size(); ++line_) {
                const std::string& line = lines_[line_ - 1];
                if (line.empty() || line.starts_with('\t') != edges)
                    continue;
                if (edges)
                    read_edge(line);
                else
                    read_node(line);
            }
        }
        if (nodes_.empty() && problems_.empty())
            problems_.push_back({label_, "", "has no node; expected one a line"});
        throw_problems();
        return ordered();
    }

private:
    void fail(std::string message) {
        problems_.push_back({label_, "", fmt::format("line {}: {}", line_, message)});
    }
    void throw_problems() {
        if (!problems_.empty())
            throw ConfigError(std::exchange(problems_, {}));
    }

    /// "node12": 12.
    static std::optional<std::uint64_t> id_of(std::string_view word) {
        constexpr std::string_view kNode = "node";
        return word.starts_with(kNode) ? parse_count(word.substr(kNode.size())) : std::nullopt;
    }

    void read_node(std::string_view line) {
        const std::size_t first = line.find(kBetween);
        const std::size_t last = line.rfind(kBetween);
        const auto id = id_of(line.substr(0, std::min(first, line.size())));
        if (!id || first == last) {
            fail("is not a node; expected \"nodeN -- OPERATOR -- forward_compute_time=...\"");
            return;
        }
        const std::size_t from = first + kBetween.size();
        const std::string_view op = line.substr(from, last - from);
        const std::string_view numbers = line.substr(last + kBetween.size());
        ProfileNode node;
        node.is_input = op.starts_with("Input");
        node.layer.name = fmt::format("node{}", *id);
        node.layer.type = type_of(op);
        node.layer.forward_us = a_sample(numbers, "forward_compute_time") * kMicroseconds;
        node.layer.backward_us = a_sample(numbers, "backward_compute_time") * kMicroseconds;
        node.layer.out_elements =
            static_cast<std::uint64_t>(a_sample(numbers, "activation_size") / kBytes);
        node.layer.parameters =
            static_cast<std::uint64_t>(number(numbers, "parameter_size") / kBytes);
        if (!nodes_.emplace(*id, std::move(node)).second)
            fail(fmt::format("node{} exists already; expected one line a node", *id));
    }

    void read_edge(std::string_view line) {
        line.remove_prefix(1);
        const std::size_t between = std::min(line.find(kBetween), line.size());
        const auto from = id_of(line.substr(0, between));
        const auto to =
            between == line.size() ? std::nullopt : id_of(line.substr(between + kBetween.size()));
        if (!from || !to || !nodes_.contains(*from) || !nodes_.contains(*to)) {
            fail("is not an edge between nodes of this file; expected \"nodeN -- nodeM\"");
            return;
        }
        nodes_[*to].producers.insert(*from);
        nodes_[*from].readers.insert(*to);
    }

    double a_sample(std::string_view numbers, std::string_view key) {
        return number(numbers, key) / batch_;
    }

    /// "key=3.5", or "key=[1.0; 2.0]" for several outputs, which are added.
    double number(std::string_view numbers, std::string_view key) {
        const std::string start = fmt::format("{}=", key);
        const std::size_t at = numbers.find(start);
        std::string_view value =
            at == std::string_view::npos ? "" : numbers.substr(at + start.size());
        value = value.substr(0, std::min(value.find(','), value.size()));
        std::string_view list = value;
        if (list.starts_with('[') && list.ends_with(']'))
            list = list.substr(1, list.size() - 2);
        double sum = 0;
        for (const std::string& part : split_text(list, ';')) {
            const auto one = parse_decimal(
                std::string_view(part).substr(std::min(part.find_first_not_of(' '), part.size())));
            if (!one || *one < 0 || *one > kMostValue) {
                fail(fmt::format("{} is \"{}\"; expected a number", key, value));
                return 0;
            }
            sum += *one;
        }
        return sum;
    }

    /// Sorts topologically, lower numbers first.
    Network ordered() {
        Network network;
        network.name = std::filesystem::path(label_).stem().stem().string();
        std::map<std::uint64_t, std::size_t> open;  // producers not yet placed
        std::set<std::uint64_t> ready;
        for (const auto& [id, node] : nodes_) {
            open[id] = node.producers.size();
            if (node.producers.empty())
                ready.insert(id);
        }
        std::map<std::uint64_t, std::uint32_t> index;
        std::size_t done = 0;
        while (!ready.empty()) {
            const std::uint64_t id = *ready.begin();
            ready.erase(ready.begin());
            ++done;
            ProfileNode& node = nodes_[id];
            for (const std::uint64_t reader : node.readers)
                if (--open[reader] == 0)
                    ready.insert(reader);
            if (node.is_input)
                continue;
            for (const std::uint64_t producer : node.producers) {
                if (nodes_[producer].is_input) {
                    node.layer.in_elements += nodes_[producer].layer.out_elements;
                    continue;
                }
                node.layer.inputs.push_back(index[producer]);
                node.layer.in_elements += network.layers[index[producer]].out_elements;
            }
            index[id] = static_cast<std::uint32_t>(network.layers.size());
            network.layers.push_back(std::move(node.layer));
        }
        if (done != nodes_.size())
            problems_.push_back({label_, "", "has a cycle of edges; expected none"});
        else if (network.layers.empty())
            problems_.push_back({label_, "", "has only inputs; expected a layer"});
        throw_problems();
        return network;
    }

    const std::string& label_;
    std::vector<std::string> lines_;
    std::uint32_t batch_;
    std::map<std::uint64_t, ProfileNode> nodes_;
    std::vector<Problem> problems_;
    std::size_t line_ = 0;
};

}  // namespace

Network parse_profile_graph(std::string_view text, const std::string& label, std::uint32_t batch) {
    return GraphReader(text, label, batch).run();
}

Network read_profile_graph(const std::filesystem::path& path, std::uint32_t batch) {
    return parse_profile_graph(read_text(path), path.string(), batch);
}

}  // namespace switchfold
