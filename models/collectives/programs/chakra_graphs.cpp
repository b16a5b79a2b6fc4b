// SPDX-License-Identifier: Apache-2.0
// Custom collectives of ASTRA-sim (its docs: system layer, collective API): a graph of Chakra a
// rank. A reduction is a compute node that waits for the receive of what it adds.
#include "models/collectives/programs/chakra_graphs.h"

#include "core/error.h"
#include "core/text_cells.h"
#include "models/collectives/programs/readers.h"
#include "workloads/readers/chakra/messages.h"
#include "workloads/readers/chakra/node.h"
#include "workloads/readers/chakra/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace switchfold::programs {

namespace {

namespace fs = std::filesystem;
using chakra::Node;
using chakra::NodeType;
using Kind = ChakraStep::Kind;

constexpr std::uint64_t kMostGraphBytes = 64U << 20U;

class GraphsReader {
public:
    explicit GraphsReader(const fs::path& prefix) : prefix_(prefix) {}

    ChakraGraphs run() {
        while (graphs_.ranks.size() <= kMostRanks && fs::is_regular_file(file_of(count())))
            read_rank(file_of(count()));
        if (count() < 2 || count() > kMostRanks)
            fail(
                file_of(count()).string(), "/",
                fmt::format(
                    "{}; expected one graph a rank, of 2 to {} ranks",
                    count() < 2 ? "does not exist" : "is one too many", kMostRanks));
        for (std::uint32_t rank = 0; rank < count(); ++rank)
            connect(rank);
        match();
        return std::move(graphs_);
    }

private:
    [[noreturn]] static void
    fail(const std::string& file, const std::string& pointer, const std::string& what) {
        throw ConfigError(file, pointer, what);
    }
    [[nodiscard]] std::uint32_t count() const {
        return static_cast<std::uint32_t>(graphs_.ranks.size());
    }
    [[nodiscard]] fs::path file_of(std::uint32_t rank) const {
        return fmt::format("{}.{}.et", prefix_.string(), rank);
    }

    void read_rank(const fs::path& file) {
        std::error_code ignored;
        if (fs::file_size(file, ignored) > kMostGraphBytes)
            fail(file.string(), "/", "is larger than 64 MiB; expected the graph of one collective");
        graphs_.text += read_text(file);
        std::vector<Node> nodes;
        chakra::Messages messages(file, kMostGraphBytes);
        std::string message;
        for (bool first = true; messages.next(message); first = false) {
            try {
                if (first)
                    take_metadata(message);
                else
                    nodes.push_back(chakra::parse_node(message));
            } catch (const chakra::WireError& error) {
                fail(
                    file.string(), fmt::format("byte {}", messages.offset()),
                    fmt::format("{} {}", first ? "metadata" : "a node", error.what()));
            }
            if (++instructions_ > kMostInstructions)
                fail(
                    file.string(), "/",
                    "brings the nodes of all ranks above 2,000,000; expected fewer");
        }
        if (nodes.empty())
            fail(file.string(), "/", "has no node; expected sends and receives");
        add_rank(file, nodes);
    }

    /// The converter from MSCCL says there which collective it is.
    void take_metadata(const std::string& message) {
        static_cast<void>(chakra::parse_version(message));
        chakra::WireReader reader(message);
        while (const auto field = reader.next())
            if (field->number == 2) {
                chakra::WireReader attribute(field->bytes);
                std::string name;
                std::string value;
                while (const auto part = attribute.next())
                    (part->number == 1 ? name : value) = part->bytes;
                if (name != "collective")
                    continue;
                if (!graphs_.collective.empty() && graphs_.collective != value)
                    throw chakra::WireError(fmt::format(
                        "names the collective {}, but another graph names {}; expected the same in "
                        "all graphs",
                        value, graphs_.collective));
                graphs_.collective = value;
            }
    }

    void add_rank(const fs::path& file, const std::vector<Node>& nodes) {
        std::unordered_map<std::uint64_t, std::size_t> at;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (!at.emplace(nodes[i].id, i).second)
                fail(file.string(), pointer_of(nodes[i]), "appears twice; expected each id once");
        std::vector<std::size_t> open(nodes.size());
        std::vector<std::vector<std::size_t>> children(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            for (const auto* list : {&nodes[i].dependencies, &nodes[i].controls})
                for (const std::uint64_t id : *list) {
                    const auto found = at.find(id);
                    if (found == at.end())
                        fail(
                            file.string(), pointer_of(nodes[i]),
                            fmt::format(
                                "waits for node {}, which does not exist; expected a node of this "
                                "graph",
                                id));
                    children[found->second].push_back(i);
                    ++open[i];
                }
        using Ready = std::pair<std::uint64_t, std::size_t>;  // id, index
        std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (open[i] == 0)
                ready.emplace(nodes[i].id, i);
        std::vector<std::uint32_t> place(nodes.size(), kNobody);
        ChakraRank rank;
        while (!ready.empty()) {
            const std::size_t i = ready.top().second;
            ready.pop();
            place[i] = static_cast<std::uint32_t>(rank.size());
            ChakraStep step = step_of(file, nodes[i]);
            for (const auto* list : {&nodes[i].dependencies, &nodes[i].controls})
                for (const std::uint64_t id : *list)
                    step.before.push_back(place[at.at(id)]);
            rank.push_back(std::move(step));
            for (const std::size_t child : children[i])
                if (--open[child] == 0)
                    ready.emplace(nodes[child].id, child);
        }
        if (const auto stuck = std::ranges::find(place, kNobody); stuck != place.end())
            fail(
                file.string(), pointer_of(nodes[static_cast<std::size_t>(stuck - place.begin())]),
                "waits for itself through its dependencies; expected no cycle");
        graphs_.ranks.push_back(std::move(rank));
    }

    static std::string pointer_of(const Node& node) {
        return fmt::format("node {} ({})", node.id, node.name);
    }

    ChakraStep step_of(const fs::path& file, const Node& node) {
        ChakraStep step;
        step.pointer = fmt::format("{} {}", file.filename().string(), pointer_of(node));
        if (node.type == NodeType::kCompute) {
            step.kind = Kind::kReduce;
            return step;
        }
        if (node.type != NodeType::kSend && node.type != NodeType::kReceive)
            fail(
                file.string(), pointer_of(node),
                fmt::format(
                    "has the type {}; expected 5 (send), 6 (receive) or 4 (compute, a reduction)",
                    static_cast<int>(node.type)));
        const bool send = node.type == NodeType::kSend;
        step.kind = send ? Kind::kSend : Kind::kReceive;
        const char* const key = send ? "comm_dst" : "comm_src";
        const std::uint64_t peer = node.number(key, UINT64_MAX);
        if (peer >= kMostRanks || peer == count())
            fail(
                file.string(), pointer_of(node),
                peer == UINT64_MAX
                    ? fmt::format("has no {}; expected the rank at the other end", key)
                    : fmt::format(
                          "has {} {}; expected another rank than its own, {}", key, peer, count()));
        step.peer = static_cast<std::uint32_t>(peer);
        step.bytes = node.number("comm_size", 0);
        if (step.bytes == 0)
            fail(
                file.string(), pointer_of(node),
                "has no comm_size; expected the bytes that it moves");
        const std::uint64_t tag = node.number("comm_tag", 0);
        step.tag = tags_.emplace(tag, static_cast<std::uint32_t>(tags_.size())).first->second;
        if (const std::uint64_t chunk = node.number("chunk", UINT64_MAX); chunk != UINT64_MAX) {
            if (chunk >= kMostPlaces)
                fail(
                    file.string(), pointer_of(node),
                    fmt::format(
                        "has the chunk {}; expected a number below {}", chunk, kMostPlaces));
            step.chunk = static_cast<std::uint32_t>(chunk);
        }
        return step;
    }

    /// Which receives reductions take.
    void connect(std::uint32_t r) {
        ChakraRank& rank = graphs_.ranks[r];
        for (ChakraStep& step : rank) {
            if (step.kind != Kind::kReduce)
                continue;
            bool any = false;
            for (const std::uint32_t before : step.before)
                if (rank[before].kind == Kind::kReceive) {
                    any = true;
                    if (std::exchange(rank[before].reduced, true))
                        fail(
                            file_of(r).string(), step.pointer,
                            fmt::format(
                                "adds the data of {}, which another node adds already; expected "
                                "one reduction for each receive",
                                rank[before].pointer));
                }
            if (!any)
                fail(
                    file_of(r).string(), step.pointer,
                    "waits for no receive; expected a dependency on the receive whose data it "
                    "adds");
        }
    }

    /// The k-th send of a tag is the k-th receive of it, in the order in which they can begin.
    void match() {
        using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, tag
        std::map<Key, std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> ends;
        for (std::uint32_t r = 0; r < count(); ++r)
            for (std::uint32_t i = 0; i < graphs_.ranks[r].size(); ++i) {
                const ChakraStep& step = graphs_.ranks[r][i];
                if (step.kind == Kind::kSend)
                    ends[{r, step.peer, step.tag}].first.push_back(i);
                if (step.kind == Kind::kReceive)
                    ends[{step.peer, r, step.tag}].second.push_back(i);
            }
        for (const auto& [key, both] : ends) {
            const auto [from, to, tag] = key;
            const auto& [sends, receives] = both;
            const std::size_t pairs = std::min(sends.size(), receives.size());
            if (sends.size() > pairs)
                fail(
                    file_of(from).string(), graphs_.ranks[from][sends[pairs]].pointer,
                    fmt::format(
                        "has no receive at rank {}; expected one with this comm_tag there", to));
            if (receives.size() > pairs)
                fail(
                    file_of(to).string(), graphs_.ranks[to][receives[pairs]].pointer,
                    fmt::format(
                        "has no send at rank {}; expected one with this comm_tag there", from));
            for (std::size_t i = 0; i < pairs; ++i) {
                ChakraStep& send = graphs_.ranks[from][sends[i]];
                ChakraStep& receive = graphs_.ranks[to][receives[i]];
                if (send.bytes != receive.bytes)
                    fail(
                        file_of(to).string(), receive.pointer,
                        fmt::format(
                            "receives {} bytes, but {} sends {}; expected equal sizes",
                            receive.bytes, send.pointer, send.bytes));
                send.message = receive.message =
                    static_cast<std::uint32_t>(graphs_.messages.size());
                graphs_.messages.push_back({from, to, sends[i], receives[i]});
                graphs_.smallest =
                    graphs_.smallest == 0 ? send.bytes : std::min(graphs_.smallest, send.bytes);
            }
        }
        if (graphs_.messages.empty())
            fail(file_of(0).string(), "/", "sends nothing; expected sends and receives");
    }

    fs::path prefix_;
    ChakraGraphs graphs_;
    std::map<std::uint64_t, std::uint32_t> tags_;
    std::uint64_t instructions_ = 0;
};

}  // namespace

std::optional<fs::path> chakra_prefix(const fs::path& path) {
    constexpr std::string_view kFirst = ".0.et";
    std::error_code ignored;
    const std::string name = path.string();
    if (fs::is_regular_file(name + std::string(kFirst), ignored))
        return path;
    if (name.ends_with(kFirst) && fs::is_regular_file(path, ignored))
        return fs::path(name.substr(0, name.size() - kFirst.size()));
    std::optional<fs::path> found;
    if (fs::is_directory(path, ignored))
        for (const auto& entry : fs::directory_iterator(path, ignored))
            if (const std::string file = entry.path().string(); file.ends_with(kFirst)) {
                if (found)
                    throw ConfigError(
                        name, "/",
                        fmt::format(
                            "contains several collectives; expected the name of one, such as {}",
                            entry.path().filename().string()));
                found = file.substr(0, file.size() - kFirst.size());
            }
    return found;
}

ChakraGraphs read_chakra_graphs(const fs::path& prefix) {
    return GraphsReader(prefix).run();
}

}  // namespace switchfold::programs
