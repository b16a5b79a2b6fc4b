// SPDX-License-Identifier: Apache-2.0
// Counts what it likes of a simulation: data packets by the link that they crossed, kernels, and
// how long ranks wait for collectives to begin. The rest is what `switchfold run` does. usage:
// count EXPERIMENT.json
#include "interconnect/link.h"
#include "models/collectives/engine.h"
#include "models/probe.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <string>

namespace {

using namespace switchfold;

class Count final : public Probe {
public:
    bool wants_packets() const override { return true; }
    void on_packet(const Packet& packet, const Link& over, Time /*now*/) override {
        ++packets[over.basename()];
        payload += traits(packet.kind).carries_data ? packet.payload : 0U;
    }
    void on_kernel_end(const KernelSeen& /*kernel*/, Time /*now*/) override { ++kernels; }
    void on_collective_end(const CollectiveSeen& seen, Time /*now*/) override {
        ++collectives;
        waited_us += to_microseconds(seen.record->ready - seen.record->start);
    }
    std::uint64_t all_packets() const {
        std::uint64_t all = 0;
        for (const auto& [link, count] : packets)
            all += count;
        return all;
    }

    std::map<std::string, std::uint64_t> packets;  ///< by link
    std::uint64_t payload = 0;                     ///< bytes, of each link that they cross
    std::uint64_t kernels = 0;
    std::uint64_t collectives = 0;
    double waited_us = 0;  ///< from the first rank's arrival to the last's
};

/// The sum of a column of the links' statistics.
double of_links(const ScenarioResult& scenario, const std::string& column) {
    double sum = 0;
    for (const StatisticTable& table : scenario.statistics)
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (table.kind == "links" && table.columns[i].name == column)
                for (const StatisticTable::Row& row : table.rows)
                    sum += row.values[i];
    return sum;
}

void run(const char* file) {
    Count count;
    RunOptions options;
    options.in_process = true;
    options.probes = {&count};
    const ExperimentResult result = run_experiment(load_experiment(file, {}), options);
    std::printf(
        "probe: %llu packets over %zu links, %llu bytes, %llu kernels, %llu collectives, %.3f us\n",
        static_cast<unsigned long long>(count.all_packets()), count.packets.size(),
        static_cast<unsigned long long>(count.payload),
        static_cast<unsigned long long>(count.kernels),
        static_cast<unsigned long long>(count.collectives), count.waited_us);
    std::printf(
        "links: %.0f packets, %.0f bytes\n", of_links(result.scenarios.front(), "packets"),
        of_links(result.scenarios.front(), "payload_bytes"));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(argc == 2 ? argv[1] : "experiment.json");
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}

// Debian's libsystemc has its own main, which needs this symbol.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
