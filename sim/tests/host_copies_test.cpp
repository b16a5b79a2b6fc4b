// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/machine/host_copy_rates.h"
#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

namespace switchfold::host_copies_test {
namespace {

SystemParams system_of(const std::string& name) {
    return load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/" + name + ".json", {});
}

const Bytes kMuch = mebibytes(256);
constexpr double kGiga = 1e9;

double to_double(Bandwidth bandwidth) {
    return static_cast<double>(bandwidth.count());
}

/// ZeRO-Infinity: one GPU of a DGX-2 reaches 10 to 12 GB/s; sixteen that read at the same time
/// reach 3 GB/s each.
TEST(HostCopyRates, OneGpuOfADgx2AndSixteen) {
    const SystemParams dgx2 = system_of("dgx2_v100_host");
    EXPECT_NEAR(host_copy_rates(dgx2, {1, kMuch, Bytes()}).to_device / kGiga, 12, 1.2);
    const double each = host_copy_rates(dgx2, {16, kMuch, Bytes()}).to_device / kGiga;
    EXPECT_NEAR(each, 3, 0.3);
    EXPECT_NEAR(host_copy_rates(dgx2, {16, Bytes(), kMuch}).to_host / kGiga, each, 0.01);
    // Two GPUs below one PCIe switch share its link.
    EXPECT_NEAR(host_copy_rates(dgx2, {2, kMuch, Bytes()}).to_device / kGiga, 6.2, 0.1);
}

/// SwapAdvisor: a V100 reaches 20 GB/s in both directions together and 12 GB/s in one.
TEST(HostCopyRates, BothWaysOfAV100) {
    const SystemParams v100 = system_of("v100_pcie_host");
    const HostCopyRates one_way = host_copy_rates(v100, {1, Bytes(), kMuch});
    const HostCopyRates both = host_copy_rates(v100, {1, kMuch, kMuch});
    EXPECT_NEAR(one_way.to_host / kGiga, 12, 1.2);
    EXPECT_NEAR(both.both / kGiga, 20, 2);
    EXPECT_NEAR(both.both / (2 * one_way.to_host), 20.0 / 24, 0.02);
}

/// Capuchin: a P100 reaches 12.7 GB/s to the host and 9.6 GB/s from it.
TEST(HostCopyRates, DirectionsOfAP100) {
    SystemParams p100 = system_of("v100_pcie_host");
    p100.gpu->copy.host_bandwidth = Bandwidth(9'600'000'000);
    p100.gpu->copy.to_host_bandwidth = Bandwidth(12'700'000'000);
    std::get<PcieTopology>(*p100.topology).gpu_link.efficiency_ppm = 900'000;
    std::get<PcieTopology>(*p100.topology).switch_link->efficiency_ppm = 900'000;
    EXPECT_NEAR(host_copy_rates(p100, {1, kMuch, Bytes()}).to_device / kGiga, 9.6, 0.1);
    EXPECT_NEAR(host_copy_rates(p100, {1, Bytes(), kMuch}).to_host / kGiga, 12.7, 0.1);
}

/// In an HGX H100, each GPU has its own PCIe switch, and four GPUs share a socket's memory.
TEST(HostCopyRates, GpusOfAnHgxH100DoNotShare) {
    const SystemParams hgx = system_of("hgx_h100_host");
    EXPECT_NEAR(host_copy_rates(hgx, {1, kMuch, Bytes()}).to_device / kGiga, 55.4, 0.6);
    EXPECT_NEAR(host_copy_rates(hgx, {8, kMuch, Bytes()}).to_device / kGiga, 55.4, 0.6);
}

TEST(HostCopyRates, AreTheFullOnesWhereNoHostIsDescribed) {
    EXPECT_NEAR(
        host_copy_rates(system_of("dgx2_v100"), {16, kMuch, Bytes()}).to_device / kGiga, 12.35,
        1e-3);
}

struct Beside {
    Time all_reduce;
    Time copies;
};

/// Every GPU copies `copied` bytes from its host while all reduce `reduced` bytes; a size of 0
/// omits that part.
Beside run(const SystemParams& system, std::uint32_t gpus, Bytes copied, Bytes reduced) {
    ExecutionGraph graph;
    graph.names = {"copy", "all_reduce"};
    Group world{"world", {}};
    for (std::uint32_t rank = 0; rank < gpus; ++rank)
        world.ranks.push_back(rank);
    graph.groups = {world};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "8", 0}};
    if (copied.count() > 0) {
        Operation operation;
        operation.body = CopyOperation{CopyKind::kHostToDevice, copied, Time()};
        rank->operations.push_back(operation);
    }
    if (reduced.count() > 0) {
        Operation operation;
        operation.name = 1;
        operation.stream = 1;
        CollectiveOperation collective;
        collective.bytes = reduced;
        operation.body = collective;
        rank->operations.push_back(operation);
    }
    graph.ranks.assign(gpus, rank);
    graph.provenance.world_size = gpus;
    CollectivePolicies policies;
    policies.all_reduce.emplace().algorithm = Algorithm::kRing;
    const Outcome outcome = simulate(system, graph, policies);
    Beside times;
    for (const auto& of_rank : outcome.times)
        for (std::size_t i = 0; i < of_rank.size(); ++i) {
            Time& last = rank->operations[i].stream == 0 ? times.copies : times.all_reduce;
            last = std::max(last, of_rank[i].end);
        }
    return times;
}

TEST(HostCopies, AndAnAllReduceOverTheSamePcieSlowEachOther) {
    const SystemParams box = system_of("v100_pcie_host");
    const Time copies = run(box, 4, mebibytes(64), Bytes()).copies;
    const Time all_reduce = run(box, 4, Bytes(), mebibytes(64)).all_reduce;
    const Beside both = run(box, 4, mebibytes(64), mebibytes(64));
    EXPECT_GT(to_seconds(both.copies), 1.2 * to_seconds(copies));
    EXPECT_GT(to_seconds(both.all_reduce), 1.2 * to_seconds(all_reduce));
    // Each uses the bandwidth that the other leaves idle, so together they take hardly longer than
    // one after the other.
    EXPECT_LT(
        to_seconds(std::max(both.copies, both.all_reduce)),
        1.05 * (to_seconds(copies) + to_seconds(all_reduce)));
}

TEST(HostCopies, AndAnAllReduceOverNvlinkDoNot) {
    const SystemParams hgx = system_of("hgx_h100_host");
    const Time copies = run(hgx, 8, mebibytes(64), Bytes()).copies;
    const Time all_reduce = run(hgx, 8, Bytes(), mebibytes(64)).all_reduce;
    const Beside both = run(hgx, 8, mebibytes(64), mebibytes(64));
    EXPECT_NEAR(to_seconds(both.copies), to_seconds(copies), 0.01 * to_seconds(copies));
    EXPECT_NEAR(to_seconds(both.all_reduce), to_seconds(all_reduce), 0.02 * to_seconds(all_reduce));
}

/// An all-reduce of 2 GiB over two GPUs, with copies from 150 ms on. Without the copies, the
/// simulation skips that part of the all-reduce.
ExecutionGraph long_all_reduce(std::uint32_t copies) {
    ExecutionGraph graph;
    graph.names = {"copy", "all_reduce"};
    graph.groups = {{"world", {0, 1}}};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "8", 0}};
    Operation reduce;
    reduce.name = 1;
    reduce.stream = 1;
    CollectiveOperation collective;
    collective.bytes = mebibytes(2048);
    reduce.body = collective;
    rank->operations.push_back(reduce);
    for (std::uint32_t i = 0; i < copies; ++i) {
        Operation copy;
        copy.gap = microseconds(i == 0 ? 150'000 : 400);
        copy.body = CopyOperation{CopyKind::kDeviceToHost, mebibytes(8), Time()};
        rank->operations.push_back(copy);
    }
    graph.ranks.assign(2, rank);
    graph.provenance.world_size = 2;
    return graph;
}

TEST(HostCopies, AreWholeBesideACollectiveThatLeavesSomethingOut) {
    const SystemParams system = system_of("v100_pcie_host");
    CollectivePolicies policies;
    policies.all_reduce.emplace().algorithm = Algorithm::kRing;
    SimulateOptions exact;
    exact.fidelity = Fidelity::kExact;
    const Outcome alone = simulate(system, long_all_reduce(0), policies);
    EXPECT_GT(alone.jumped_us * 1e-6, 0.05);
    const Outcome jumped = simulate(system, long_all_reduce(3), policies);
    const Outcome whole = simulate(system, long_all_reduce(3), policies, exact);
    // The simulation jumps up to the first copy and not after it.
    EXPECT_GT(jumped.jumped_us, 0);
    EXPECT_LT(jumped.jumped_us * 1e-6, 0.15);
    const auto end = static_cast<double>(whole.end_ps);
    EXPECT_NEAR(static_cast<double>(jumped.end_ps), end, 0.003 * end);
    for (std::size_t i = 1; i < 4; ++i) {
        const auto took = [&](const Outcome& outcome) {
            return to_seconds(outcome.times[0][i].end - outcome.times[0][i].start);
        };
        EXPECT_LT(jumped.times[0][i].end, jumped.times[0][0].end) << "copies are not beside it";
        EXPECT_NEAR(took(jumped), took(whole), 0.1 * took(whole)) << i;
    }
}

TEST(HostCopyRates, OfEverySystemEndAndNoneBeatsItsEngine) {
    const std::filesystem::path systems = SWITCHFOLD_SOURCE_DIR "/configs/systems";
    std::size_t seen = 0;
    for (const auto& file : std::filesystem::directory_iterator(systems)) {
        if (file.path().extension() != ".json")
            continue;
        SCOPED_TRACE(file.path().stem().string());
        const SystemParams system = load_any_system(file.path().string(), {});
        if (!system.has_gpus())
            continue;
        const std::uint32_t gpus = std::min(gpus_of(system), 8U);
        const HostCopyRates rates = host_copy_rates(system, {gpus, mebibytes(4), mebibytes(4)});
        const CopyParams& copy = system.gpu->copy;
        constexpr double kRounding = 1.0001;
        EXPECT_GT(rates.to_device, 1e8);
        EXPECT_LE(rates.to_device, to_double(copy.host_bandwidth) * kRounding);
        EXPECT_GT(rates.to_host, 1e8);
        EXPECT_LE(rates.to_host, to_double(copy.rate_to_host()) * kRounding);
        EXPECT_LE(
            rates.both, copy.duplex *
                            (to_double(copy.host_bandwidth) + to_double(copy.rate_to_host())) *
                            kRounding);
        ++seen;
    }
    EXPECT_GT(seen, 40U);
}

}  // namespace
}  // namespace switchfold::host_copies_test
