// SPDX-License-Identifier: Apache-2.0
// Runs both extensions: push all-reduces through a switch whose reduction tables are too small, and
// a packet between every two GPUs of a hypercube. Prints the results; exits 1 if anything is wrong.
#include "core/json.h"
#include "core/kernel/simulation.h"
#include "core/params_reader.h"
#include "interconnect/fabric.h"
#include "interconnect/topologies/switched.h"
#include "interconnect/topology_analysis.h"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "fewest_operands_leave.h"
#include "hypercube.h"

namespace {

using namespace switchfold;

constexpr std::uint32_t kGpus = 4;
constexpr std::uint64_t kLines = 64;

/// Counts the packets that arrive: complete sums, and the operands of lines that were evicted
/// early.
struct Receiver final : PacketClient {
    explicit Receiver(Fabric& f) : fabric(f), id(f.add_client(*this)) {}
    void on_packet(const Packet& packet, std::uint32_t /*rank*/, Time visible) override {
        arrived += packet.kind == PacketKind::kReducePartial ? 0U : 1U;
        contributions[packet.tag] +=
            packet.kind == PacketKind::kReducePartial ? std::uint64_t{packet.count} : 0U;
        last = std::max(last, visible);
        if (packet.tag == kLines - 1)
            last_line = std::max(last_line, visible);
        fabric.values().drop(packet.values);
    }
    std::uint32_t supply(const Packet& /*request*/, std::uint32_t /*rank*/) override { return 0; }
    void on_departure(std::uint64_t /*tag*/, Time /*now*/) override {}

    Fabric& fabric;
    std::uint32_t id;
    std::uint64_t arrived = 0;
    std::map<std::uint64_t, std::uint64_t> contributions;  ///< operands of lines that came in parts
    Time last;
    Time last_line;
};

struct Evictions {
    std::uint64_t evictions = 0;
    bool whole = false;
    Time last_line;         ///< when every GPU has the last line's sum
    std::size_t units = 0;  ///< nodes that added
};

SwitchParams small_tables() {
    SwitchParams node;
    node.multicast = true;
    node.reduction = ReductionUnitParams{};
    node.reduction->entries = 4;
    return node;
}

Topology star() {
    SwitchedTopology star;
    star.gpus = kGpus;
    star.lanes_to_switch = {1};
    star.node = small_tables();
    return star.build();
}

/// A place of our own: of a square of four routers, one has a unit, and the others forward.
Topology square_with_one_unit() {
    consumer::HypercubeTopology square;
    square.dimensions = 2;
    square.router.multicast = true;
    Topology topology = square.build();
    topology.switches.push_back(small_tables());
    topology.nodes.back().switch_class = static_cast<std::uint32_t>(topology.switches.size() - 1);
    return topology;
}

/// An order of our own: what belongs to the last lines comes first.
struct LastLinesFirst final : ReductionPolicy {
    [[nodiscard]] std::uint32_t victim(
        const ReductionUnit& /*unit*/, TreeRole /*role*/,
        const Packet& /*waiting*/) const override {
        return ReductionUnit::kNone;
    }
    [[nodiscard]] std::uint32_t
    precedence(const ReductionUnit& /*unit*/, const Packet& waiting) const override {
        return static_cast<std::uint32_t>(waiting.tag);
    }
    [[nodiscard]] bool orders() const override { return true; }
};

/// Every GPU pushes every line, each starting at a different one. The table holds four lines.
Evictions
push(const std::shared_ptr<const ReductionPolicy>& policy, const Topology& topology = star()) {
    Simulation simulation;
    Fabric fabric("fabric", topology, simulation.scheduler());
    if (policy)
        fabric.set_reduction_policy(policy);
    Receiver receiver(fabric);
    std::vector<std::uint32_t> ranks(kGpus);
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::string refused;
    const auto group = fabric.create_group(ranks, ElementType::kFloat32, refused);
    for (std::uint32_t rank = 0; rank < kGpus; ++rank)
        for (std::uint64_t i = 0; i < kLines; ++i) {
            const std::uint64_t line = (i + 16 * rank) % kLines;
            fabric.send(
                *group, rank,
                {.kind = PacketKind::kReducePush,
                 .payload = 128,
                 .tag = line,
                 .client = receiver.id,
                 .slot = line,
                 .home = static_cast<std::uint32_t>(line % kGpus)});
        }
    simulation.run();
    fabric.remove_group(*group);
    Evictions result;
    result.last_line = receiver.last_line;
    for (const auto& node : fabric.switches()) {
        std::uint64_t added = 0;
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            if (const ReductionUnit* unit = node->unit(port)) {
                result.evictions += unit->statistics().evictions;
                added += unit->statistics().bytes_in;
            }
        result.units += added > 0 ? 1 : 0;
    }
    // A line arrives either complete at every member, or in parts at its home, and the parts
    // together must be complete.
    std::uint64_t in_parts = 0;
    result.whole = true;
    for (const auto& [line, count] : receiver.contributions)
        if (count > 0) {
            ++in_parts;
            result.whole = result.whole && count == kGpus;
        }
    result.whole = result.whole && receiver.arrived == (kLines - in_parts) * kGpus;
    return result;
}

/// Reads a hypercube from JSON text and sends a packet between every two of its GPUs.
bool cross(std::uint32_t dimensions) {
    const auto text = "{\"dimensions\": " + std::to_string(dimensions) + "}";
    const auto cube =
        read_params<consumer::HypercubeTopology>(parse_json(text, "cube.json"), "cube.json");
    const Topology topology = cube.build();
    Simulation simulation;
    Fabric fabric("fabric", topology, simulation.scheduler());
    Receiver receiver(fabric);
    std::uint64_t sent = 0;
    for (std::uint32_t from = 0; from < fabric.gpus(); ++from)
        for (std::uint32_t to = 0; to < fabric.gpus(); ++to)
            if (from != to) {
                fabric.send(
                    fabric.connect(from, to),
                    {.payload = 4096, .tag = sent, .client = receiver.id, .slot = sent});
                ++sent;
            }
    simulation.run();
    const std::size_t hops = diameter(topology).hops;
    std::printf(
        "hypercube of %u GPUs: %llu packets arrived of %llu, at most %zu hops, %llu ps\n",
        fabric.gpus(), static_cast<unsigned long long>(receiver.arrived),
        static_cast<unsigned long long>(sent), hops,
        static_cast<unsigned long long>(receiver.last.count()));
    // One hop to the router, at most one per dimension, and one from the last router to the GPU.
    return receiver.arrived == sent && hops == dimensions + 2;
}

bool refuses_what_cannot_be() {
    try {
        static_cast<void>(read_params<consumer::HypercubeTopology>(
            parse_json(R"({"dimension": 3})", "cube.json"), "cube.json"));
    } catch (const ConfigError& error) {
        std::printf("%s\n", error.what());
        return std::string(error.what()).find("did you mean") != std::string::npos;
    }
    return false;
}

bool run() {
    const Evictions waiting = push(nullptr);
    const Evictions ours = push(std::make_shared<consumer::FewestOperandsLeave>());
    std::printf(
        "lines that left early: %llu when they wait, %llu by our policy\n",
        static_cast<unsigned long long>(waiting.evictions),
        static_cast<unsigned long long>(ours.evictions));
    const Evictions ordered = push(std::make_shared<LastLinesFirst>());
    const Evictions placed = push(nullptr, square_with_one_unit());
    std::printf(
        "in our order the last line is there after %llu ps, as they came after %llu; in our place "
        "%zu of four routers added\n",
        static_cast<unsigned long long>(ordered.last_line.count()),
        static_cast<unsigned long long>(waiting.last_line.count()), placed.units);
    if (!ordered.whole || ordered.last_line >= waiting.last_line || !placed.whole ||
        placed.units != 1)
        return false;
    return waiting.whole && waiting.evictions == 0 && ours.whole && ours.evictions > 0 &&
           cross(3) && cross(5) && refuses_what_cannot_be();
}

}  // namespace

int main() {
    try {
        return run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

// Debian's libsystemc has its own main, which needs this symbol.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
