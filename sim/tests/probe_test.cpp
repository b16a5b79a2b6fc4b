// SPDX-License-Identifier: Apache-2.0
#include "models/probe.h"

#include "core/json.h"
#include "interconnect/link.h"
#include "models/collectives/engine.h"
#include "sim/config/load.h"
#include "sim/machine/system_queries.h"
#include "sim/runner.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace switchfold::probe_test {
namespace {

class Count final : public Probe {
public:
    explicit Count(bool wants_packets) : wants_packets_(wants_packets) {}
    void on_simulation_begin(std::string_view label) override { labels.emplace_back(label); }
    [[nodiscard]] bool wants_packets() const override { return wants_packets_; }
    void on_packet(const Packet& /*packet*/, const Link& over, Time now) override {
        ++packets[over.basename()];
        last = std::max(last, now);
    }
    void on_kernel_begin(const KernelSeen& kernel, Time now) override {
        begun[{kernel.rank, kernel.operation}] = now;
    }
    void on_kernel_end(const KernelSeen& kernel, Time now) override {
        EXPECT_GE(now, begun.at({kernel.rank, kernel.operation}) + kernel.kernel.isolated);
        ++ended;
    }
    void on_collective_begin(const CollectiveSeen& collective, Time now) override {
        EXPECT_EQ(collective.record, nullptr);
        started.push_back(now);
    }
    void on_collective_end(const CollectiveSeen& collective, Time now) override {
        EXPECT_EQ(collective.record->end, now);
        EXPECT_EQ(collective.bytes, collective.record->bytes);
        ++collectives;
    }
    void on_slice(Time /*now*/) override { ++slices; }

    std::vector<std::string> labels;
    std::map<std::string, double> packets;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Time> begun;
    std::size_t ended = 0;
    std::vector<Time> started;
    std::size_t collectives = 0;
    std::size_t slices = 0;
    Time last;

private:
    bool wants_packets_;
};

LoadedExperiment experiment(bool exact) {
    Json json = Json::parse(R"({"name": "watched", "system": "configs/systems/hgx_h100.json",
        "workload": {"type": "training", "strategy": "data_parallel", "ranks": 2, "batch": 1,
                     "transformer": {"blocks": 2, "hidden": 512, "sequence": 128}},
        "scenarios": [{"name": "ring", "all_reduce": {"algorithm": "ring"}}]})");
    json["exact"] = exact;
    return load_experiment(json, SWITCHFOLD_SOURCE_DIR "/watched.json", {});
}

ExperimentResult run(bool exact, std::vector<Probe*> probes) {
    RunOptions options;
    options.in_process = true;
    options.probes = std::move(probes);
    return run_experiment(experiment(exact), options);
}

TEST(Probe, SeesEveryPacketThatTheLinksCount) {
    Count count(true);
    const ExperimentResult result = run(true, {&count});
    ASSERT_EQ(count.labels, std::vector<std::string>{"ring"});
    for (const StatisticTable& table : result.scenarios.front().statistics)
        if (table.kind == "links") {
            ASSERT_EQ(table.columns.front().name, "packets");
            EXPECT_EQ(table.rows.size(), count.packets.size());
            for (const StatisticTable::Row& row : table.rows)
                EXPECT_EQ(row.values.front(), count.packets[row.name]) << row.name;
        }
    EXPECT_GT(count.packets.size(), 4U);
    EXPECT_GT(count.last, Time());
    EXPECT_EQ(count.ended, count.begun.size());
    EXPECT_GT(count.ended, 0U);
    EXPECT_EQ(count.collectives, result.scenarios.front().collectives.size());
    EXPECT_EQ(count.started.size(), count.collectives);
    EXPECT_GT(count.slices, 0U);
}

TEST(Probe, ChangesNothing) {
    for (const bool exact : {false, true}) {
        Count first(true);
        Count second(false);
        const ExperimentResult alone = run(exact, {});
        const ExperimentResult watched = run(exact, {&first, &second});
        EXPECT_EQ(watched.scenarios.front().iteration_us, alone.scenarios.front().iteration_us);
        EXPECT_EQ(watched.scenarios.front().events, alone.scenarios.front().events);
        EXPECT_TRUE(second.packets.empty()) << "it wants none";
        EXPECT_EQ(second.ended, first.ended);
        EXPECT_EQ(second.collectives, first.collectives);
    }
}

}  // namespace
}  // namespace switchfold::probe_test
