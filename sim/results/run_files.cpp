// SPDX-License-Identifier: Apache-2.0
#include "sim/results/run_files.h"

#include "sim/config/learning_params.h"
#include "sim/output/changes_text.h"
#include "sim/output/timeline.h"
#include "sim/results/memory_over_time.h"
#include "sim/results/summary.h"
#include "sim/results/timeline.h"

#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// A table that is created with its first row.
class Table {
public:
    Table(ResultFolder& folder, std::string name, std::string header) :
        folder_(folder), name_(std::move(name)), header_(std::move(header)) {}

    void add(const std::string& lines) {
        if (lines.empty())
            return;
        if (!file_) {
            file_.emplace(folder_.stage(name_));
            file_->write(header_);
        }
        file_->write(lines);
    }
    void close() {
        if (file_)
            file_->close();
    }

private:
    ResultFolder& folder_;
    std::string name_;
    std::string header_;
    std::optional<TextFile> file_;
};

void write_kernels(ResultFolder& folder, const std::vector<RanScenario>& scenarios) {
    TextFile kernels(folder.stage("kernels.csv"));
    kernels.write(kernel_csv_header());
    for (const RanScenario& scenario : scenarios) {
        std::string block;
        constexpr std::size_t kBlock = 1U << 20U;
        for_each_kernel(scenario.graph, scenario.outcome, [&](const KernelRow& row) {
            block += kernel_csv_line(scenario.name, row);
            if (block.size() > kBlock) {
                kernels.write(block);
                block.clear();
            }
        });
        kernels.write(block);
    }
    kernels.close();
}

void write_passes(ResultFolder& folder, const std::vector<RanScenario>& scenarios) {
    Table table(folder, "passes.csv", pass_csv_header());
    for (const RanScenario& scenario : scenarios) {
        std::string block;
        for_each_pass(scenario.graph, scenario.outcome, [&](const PassRow& row) {
            block += pass_csv_line(scenario.name, row);
        });
        table.add(block);
    }
    table.close();
}

void write_memory(ResultFolder& folder, const std::vector<RanScenario>& scenarios) {
    Table table(folder, "memory.csv", memory_csv_header());
    for (const RanScenario& scenario : scenarios)
        for (std::uint32_t rank = 0; rank < scenario.graph.ranks.size(); ++rank) {
            std::string block;
            for (const MemoryRow& row : memory_over_time(scenario.graph, scenario.outcome, rank))
                block += memory_csv_line(scenario.name, row);
            table.add(block);
        }
    table.close();
}

}  // namespace

void write_tables(ResultFolder& folder, const std::vector<RanScenario>& scenarios) {
    write_kernels(folder, scenarios);
    write_passes(folder, scenarios);
    write_memory(folder, scenarios);
}

void write_learning(ResultFolder& folder, const ExperimentResult& result) {
    Table losses(folder, "learning.csv", learning_csv_header());
    Table versions(folder, "versions.csv", version_csv_header());
    for (const ScenarioResult& scenario : result.scenarios) {
        if (!scenario.learning)
            continue;
        std::string block;
        for (const LossRow& row : scenario.learning->losses)
            block += learning_csv_line(scenario.name, row);
        losses.add(block);
        block.clear();
        for (const VersionRow& row : scenario.learning->versions)
            block += version_csv_line(scenario.name, row);
        versions.add(block);
    }
    losses.close();
    versions.close();
}

void write_changes(ResultFolder& folder, const ExperimentResult& result) {
    Table changes(folder, "changes.csv", changes_csv_header());
    Table members(folder, "members.csv", members_csv_header());
    for (const ScenarioResult& scenario : result.scenarios) {
        if (!scenario.changes)
            continue;
        std::string block;
        for (const ChangeResult& change : scenario.changes->changes)
            block += changes_csv_line(scenario.name, change);
        changes.add(block);
        block.clear();
        for (const RunStretchResult& stretch : scenario.changes->stretches)
            block += members_csv_line(scenario.name, stretch);
        members.add(block);
    }
    changes.close();
    members.close();
}

void write_timeline(
    ResultFolder& folder, const std::vector<RanScenario>& scenarios, const GpuParams& gpu) {
    TimelineWriter writer(
        folder.stage("timeline.json.gz"), gpu.name,
        static_cast<std::uint32_t>(scenarios.front().graph.ranks.size()), gpu.sms);
    for (const RanScenario& scenario : scenarios)
        add_to_timeline(writer, scenario.name, scenario.graph, scenario.outcome);
    writer.close();
}

void write_counters(ResultFolder& folder, const std::vector<RanScenario>& scenarios) {
    Table counters(folder, "counters.csv", counter_csv_header());
    for (const RanScenario& scenario : scenarios) {
        std::string block;
        for (const CounterSample& sample : scenario.outcome.counters)
            block += counter_csv_line(scenario.name, sample);
        counters.add(block);
    }
    counters.close();
}

}  // namespace switchfold
