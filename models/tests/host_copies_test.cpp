// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/host_copies.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "interconnect/topology_builder.h"
#include "models/gpu/copy_engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace switchfold::host_copies_test {
namespace {

constexpr CopyKind kIn = CopyKind::kHostToDevice;
constexpr CopyKind kOut = CopyKind::kDeviceToHost;

/// A link of the given payload bandwidth.
LinkParams wire(Bandwidth bandwidth) {
    LinkParams link;
    link.lane_bandwidth = bandwidth;
    link.format.header_flits = 0;
    link.format.request_flits = 0;
    return link;
}
LinkParams wire(std::uint64_t gigabytes) {
    return wire(gigabytes_per_second(gigabytes));
}

PcieTopology box(std::uint32_t gpus) {
    PcieTopology t;
    t.gpus = gpus;
    t.gpu_link = wire(12);
    return t;
}

CopyParams engine_of(std::uint64_t gigabytes) {
    CopyParams p;
    p.host_bandwidth = gigabytes_per_second(gigabytes);
    return p;
}

struct Ask {
    std::uint32_t rank = 0;
    CopyOperation copy;
    Time at = {};
};

/// GPUs on a topology that run copies only.
class Scene final : private EventHandler, private CopyListener {
public:
    Scene(const Topology& topology, const CopyParams& params, std::vector<Ask> asked) :
        asked_(std::move(asked)), fabric_("fabric", topology, simulation_.scheduler()) {
        MemoryParams memory;
        memory.hbm.peak = gigabytes_per_second(2000);
        for (std::uint32_t rank = 0; rank < fabric_.gpus(); ++rank) {
            memories_.push_back(std::make_unique<MemorySystem>(
                fmt::format("memory{}", rank).c_str(), memory, Contention{},
                simulation_.scheduler()));
            engines_.push_back(std::make_unique<CopyEngine>(
                fmt::format("copies{}", rank).c_str(), params, *memories_.back(),
                simulation_.scheduler()));
            engines_.back()->attach(fabric_, rank);
        }
        ended.resize(asked_.size());
        for (std::size_t i = 0; i < asked_.size(); ++i)
            simulation_.scheduler().at(asked_[i].at, *this, i);
    }
    Scene& run() {
        simulation_.run();
        return *this;
    }
    [[nodiscard]] double rate(std::size_t i) const {
        return static_cast<double>(asked_[i].copy.bytes.count()) /
               to_seconds(ended[i] - asked_[i].at) * 1e-9;
    }
    [[nodiscard]] const HostCopyStatistics& statistics(std::uint32_t rank) const {
        return *engines_[rank]->host_statistics();
    }
    [[nodiscard]] Fabric& fabric() { return fabric_; }

    std::vector<Time> ended;
    std::size_t count = 0;  ///< of completed copies

private:
    void on_event(std::uint64_t tag) override {
        engines_[asked_[tag].rank]->start(static_cast<std::uint32_t>(tag), asked_[tag].copy, *this);
    }
    void on_copy_end(std::uint32_t id) override {
        EXPECT_EQ(ended[id], Time());
        ended[id] = simulation_.scheduler().now();
        ++count;
    }
    Simulation simulation_;
    std::vector<Ask> asked_;
    Fabric fabric_;
    std::vector<std::unique_ptr<MemorySystem>> memories_;
    std::vector<std::unique_ptr<CopyEngine>> engines_;
};

Ask ask(std::uint32_t rank, CopyKind kind, Bytes bytes, Time isolated = {}) {
    return {rank, {kind, bytes, isolated}};
}

const Bytes kMuch(120'000'000);

TEST(HostCopies, AloneTakeTheSlowestOfEngineLinkAndMemory) {
    EXPECT_NEAR(
        (Scene(box(1).build(), engine_of(10), {ask(0, kIn, kMuch)}).run().rate(0)), 10, 1e-4);
    EXPECT_NEAR(
        (Scene(box(1).build(), engine_of(50), {ask(0, kIn, kMuch)}).run().rate(0)), 12, 1e-2);
    PcieTopology memory = box(1);
    memory.memory_link = wire(7);
    EXPECT_NEAR(
        (Scene(memory.build(), engine_of(50), {ask(0, kOut, kMuch)}).run().rate(0)), 7, 1e-2);
}

TEST(HostCopies, DirectionsHaveRatesOfTheirOwn) {
    PcieTopology fast = box(1);
    fast.gpu_link = wire(16);
    CopyParams p100;
    p100.host_bandwidth = Bandwidth(9'600'000'000);
    p100.to_host_bandwidth = Bandwidth(12'700'000'000);
    Scene scene(fast.build(), p100, {ask(0, kIn, kMuch), ask(0, kOut, kMuch)});
    scene.run();
    EXPECT_NEAR(scene.rate(0), 9.6, 1e-3);
    EXPECT_NEAR(scene.rate(1), 12.7, 1e-3);
    EXPECT_EQ(scene.statistics(0).to_device_bytes, kMuch.count());
    EXPECT_EQ(scene.statistics(0).to_host_bytes, kMuch.count());
    EXPECT_EQ(scene.statistics(0).shared_time, Time());
}

TEST(HostCopies, BothWaysReachTheDuplexShare) {
    CopyParams half = engine_of(12);
    half.duplex = 0.83;
    Scene scene(box(1).build(), half, {ask(0, kIn, kMuch), ask(0, kOut, kMuch)});
    scene.run();
    EXPECT_NEAR(scene.rate(0) + scene.rate(1), 0.83 * 24, 0.05);
    EXPECT_NEAR((Scene(box(1).build(), half, {ask(0, kOut, kMuch)}).run().rate(0)), 12, 1e-3);
    // A slow copy to the device leaves the rest of the shared bandwidth to the copy to the host.
    half.host_bandwidth = gigabytes_per_second(3);
    half.to_host_bandwidth = gigabytes_per_second(12);
    Scene uneven(box(1).build(), half, {ask(0, kIn, kMuch), ask(0, kOut, kMuch)});
    uneven.run();
    EXPECT_GT(uneven.rate(1), 0.83 * 15 - 3 - 0.2);
    EXPECT_LT(uneven.rate(1), 12);
}

TEST(HostCopies, ThoseOfOneWayGoOneAfterTheOtherAndOneEngineServesBoth) {
    Scene queue(box(1).build(), engine_of(12), {ask(0, kIn, kMuch), ask(0, kIn, kMuch)});
    queue.run();
    EXPECT_NEAR(queue.rate(0), 12, 1e-2);
    EXPECT_NEAR(queue.rate(1), 6, 1e-2);
    CopyParams single = engine_of(12);
    single.engines = 1;
    Scene one(box(1).build(), single, {ask(0, kIn, kMuch), ask(0, kOut, kMuch)});
    one.run();
    EXPECT_NEAR(one.rate(0), 12, 1e-2);
    EXPECT_NEAR(one.rate(1), 6, 1e-2);
}

TEST(HostCopies, ShareTheLinkAboveTheirSwitch) {
    PcieTopology t = box(4);
    t.switches = 2;
    t.switch_link = wire(12);
    std::vector<Ask> all;
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        all.push_back(ask(rank, kIn, kMuch));
    Scene scene(t.build(), engine_of(12), all);
    scene.run();
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_NEAR(scene.rate(i), 6, 0.05) << i;
    EXPECT_GT(to_seconds(scene.statistics(0).shared_time), 0.4 * to_seconds(scene.ended[0]));
    // A single copy under each switch has the switch link to itself.
    Scene apart(t.build(), engine_of(12), {ask(0, kIn, kMuch), ask(2, kIn, kMuch)});
    apart.run();
    EXPECT_NEAR(apart.rate(0), 12, 1e-2);
    EXPECT_EQ(apart.statistics(0).shared_time, Time());
}

TEST(HostCopies, SharesDoNotDependOnWhatIsOutstanding) {
    PcieTopology t = box(3);
    t.switches = 1;
    t.switch_link = wire(20);
    std::vector<double> rates;
    for (const std::uint64_t kib : {16, 32, 64, 128}) {
        CopyParams params = engine_of(10);
        params.outstanding = kibibytes(kib);
        Scene scene(
            t.build(), params, {ask(0, kIn, kMuch), ask(1, kIn, kMuch), ask(2, kIn, kMuch)});
        rates.push_back(scene.run().rate(0));
    }
    for (const double rate : rates)
        EXPECT_NEAR(rate, 20.0 / 3, 0.03);
}

TEST(HostCopies, WhatWasMeasuredTakesItsTimeAloneAndMoreBesideOthers) {
    PcieTopology t = box(2);
    t.switches = 1;
    t.switch_link = wire(12);
    // Isolated times that are faster than the model's link (as a measurement may be), at the
    // link's rate, and slower than the fair share of the link (as from pageable memory).
    for (const auto& [isolated, beside_another] :
         {std::pair{microseconds(8'000), microseconds(18'000)},
          std::pair{microseconds(10'000), microseconds(20'000)},
          std::pair{microseconds(40'000), microseconds(40'000)}}) {
        const Ask measured = ask(0, kIn, kMuch, isolated);
        Scene alone(t.build(), engine_of(12), {measured});
        EXPECT_EQ(alone.run().ended[0], isolated);
        Scene beside(t.build(), engine_of(12), {measured, ask(1, kIn, kMuch * 10)});
        beside.run();
        EXPECT_NEAR(to_seconds(beside.ended[0]), to_seconds(beside_another), 20e-6);
    }
}

TEST(HostCopies, RequestsTakeWireTimeTheOtherWay) {
    PcieTopology t = box(2);
    t.switches = 1;
    t.switch_link = wire(12);
    t.switch_link->format.flit = Bytes(4);
    t.switch_link->format.request_flits = 6;
    t.switch_link->format.max_payload = Bytes(256);
    // One GPU reads host memory, another writes it through the same switch.
    Scene scene(t.build(), engine_of(12), {ask(0, kIn, kMuch * 2), ask(1, kOut, kMuch)});
    scene.run();
    EXPECT_NEAR(scene.rate(0), 12, 1e-2);
    EXPECT_NEAR(scene.rate(1), 12 * (1 - 24.0 / 256), 0.02);
}

TEST(HostCopies, WithoutAWayToTheHostEachHasItsFullRate) {
    SwitchedTopology hgx;
    hgx.gpus = 2;
    hgx.lanes_to_switch = {1};
    Scene scene(
        hgx.build(), engine_of(12), {ask(0, kIn, kMuch), ask(0, kIn, kMuch), ask(1, kIn, kMuch)});
    scene.run();
    for (const Time end : scene.ended)
        EXPECT_EQ(end, serialization_time(kMuch, gigabytes_per_second(12)));
    EXPECT_EQ(scene.statistics(0).copies, 0U);
}

TEST(HostCopies, ACutCableIsAnErrorThatNamesIt) {
    PcieTopology t = box(2);
    t.switches = 1;
    t.switch_link = wire(12);
    Scene scene(t.build(), engine_of(12), {ask(0, kIn, kMuch)});
    scene.fabric().take_down(2);
    try {
        scene.run();
        FAIL() << "copied over a cable that is down";
    } catch (const SimulationError& error) {
        EXPECT_NE(
            std::string(error.what()).find("no path from gpu0 to its host; down: pcie0_to_host0"),
            std::string::npos)
            << error.what();
    }
}

TEST(HostCopies, ASlowerCableSlowsThem) {
    Scene scene(box(1).build(), engine_of(12), {ask(0, kIn, kMuch)});
    for (const auto& link : scene.fabric().links())
        link->degrade(250'000);
    EXPECT_NEAR(scene.run().rate(0), 3, 1e-2);
}

struct Load {
    PcieTopology machine;
    CopyParams params;
    std::vector<Ask> asked;
};

rc::Gen<Load> any_load() {
    return rc::gen::exec([] {
        Load load;
        const auto roots = *rc::gen::inRange(1U, 3U);
        load.machine.roots = roots;
        load.machine.gpus = *rc::gen::inRange(1U, 9U);
        load.machine.switches = roots * *rc::gen::inRange(0U, 3U);
        const auto any = [](const char* /*what*/) {
            LinkParams link =
                wire(Bandwidth(*rc::gen::inRange<std::uint64_t>(1'000'000'000, 60'000'000'000)));
            link.format.header_flits = *rc::gen::inRange(0U, 3U);
            link.format.request_flits = *rc::gen::inRange(0U, 3U);
            return link;
        };
        load.machine.gpu_link = any("gpu");
        load.machine.switch_link = any("switch");
        load.machine.root_link = any("root");
        if (*rc::gen::arbitrary<bool>())
            load.machine.memory_link = any("memory");
        load.params.engines = *rc::gen::inRange(1U, 4U);
        load.params.host_bandwidth =
            Bandwidth(*rc::gen::inRange<std::uint64_t>(1'000'000'000, 60'000'000'000));
        if (*rc::gen::arbitrary<bool>())
            load.params.to_host_bandwidth =
                Bandwidth(*rc::gen::inRange<std::uint64_t>(1'000'000'000, 60'000'000'000));
        load.params.duplex = *rc::gen::element(1.0, 0.83, 0.5);
        load.params.outstanding = Bytes(*rc::gen::inRange<std::uint64_t>(1024, 1 << 20));
        const auto copies = *rc::gen::inRange(1U, 20U);
        for (std::uint32_t i = 0; i < copies; ++i) {
            const std::uint32_t rank = *rc::gen::inRange(0U, load.machine.gpus);
            const CopyKind kind = *rc::gen::element(kIn, kOut);
            const Bytes bytes(*rc::gen::element<std::uint64_t>(0, 1, 4096, 1'000'000, 20'000'000));
            const Time isolated(*rc::gen::element<std::uint64_t>(0, 0, 1'000'000, 1'000'000'000));
            const Time at(*rc::gen::inRange<std::uint64_t>(0, 3'000'000'000));
            load.asked.push_back({rank, {kind, bytes, isolated}, at});
        }
        return load;
    });
}

/// Every copy ends once and no bytes are lost on the links. No copy is faster than alone, and all
/// copies together take no longer than one after the other.
RC_GTEST_PROP(HostCopies, AllEndAndNoneBeatsItselfAlone, ()) {
    const Load load = *any_load();
    const Topology topology = load.machine.build();
    Scene scene(topology, load.params, load.asked);
    scene.run();
    RC_ASSERT(scene.count == load.asked.size());
    RC_ASSERT(scene.fabric().host_traffic().copies == 0U);
    double serial = 0;
    Time first(UINT64_MAX);
    Time last;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < load.asked.size(); ++i) {
        Ask one = load.asked[i];
        one.at = Time();
        const Time alone = Scene(topology, load.params, {one}).run().ended[0];
        RC_ASSERT(scene.ended[i] - load.asked[i].at + Time(1000) >= alone);
        serial += to_seconds(alone);
        first = std::min(first, load.asked[i].at);
        last = std::max(last, std::max(load.asked[i].at, scene.ended[i]));
        bytes += load.asked[i].copy.bytes.count();
    }
    std::uint64_t carried = 0;
    std::uint64_t counted = 0;
    for (std::uint32_t rank = 0; rank < load.machine.gpus; ++rank) {
        carried += scene.fabric().links()[2 * rank]->statistics().payload_bytes +
                   scene.fabric().links()[2 * rank + 1]->statistics().payload_bytes;
        counted += scene.statistics(rank).to_device_bytes + scene.statistics(rank).to_host_bytes;
    }
    RC_ASSERT(carried == bytes);
    RC_ASSERT(counted == bytes);
    // Read requests take wire time in addition to their data: at most 32 bytes per 128.
    RC_ASSERT(to_seconds(last - first) <= 3e-3 + 1.5 * serial + 1e-6);
}

}  // namespace
}  // namespace switchfold::host_copies_test
