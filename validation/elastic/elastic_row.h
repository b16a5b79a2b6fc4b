// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/experiments/measured_experiments.h"
#include "validation/harness/suite_jobs.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// A row of elastic.csv (docs/validation.md lists the columns read).
struct ElasticRow {
    // NOLINTNEXTLINE(google-explicit-constructor): a row of the map validation/maps/elastic.json
    ElasticRow(const MeasuredExperiment& row);

    const std::string& operator[](std::string_view column) const { return record[column]; }
    /// 0: not stated. Throws RowProblem for what is no number from 1.
    [[nodiscard]] std::uint32_t count(std::string_view column) const;

    std::string id;
    CsvRecord record;
    double value = 0;
    std::string why;  ///< reason why it is left out; empty if it is not
};

/// What is asked of a row: a case, and how it is answered.
struct ElasticQuestion {
    Case c;
    Job job = {};  ///< its number is the answer; without one, the case holds it
    /// Takes the job's number in place of it, or 0 without a job.
    std::function<void(double, Case&)> answer = {};
    /// Rows of one name here are compared by their ratio to that of them which is its base.
    std::string beside = {};
    std::string base = {};  ///< what the base is, for a note; empty: it is none
};

struct ElasticInputs {
    const std::vector<ElasticRow>& rows;
    const SuiteOptions& options;
    const Machines& machines;

    /// Throws RowProblem if there is none.
    [[nodiscard]] const SystemParams& system(const WantedMachine& wanted) const;
    /// Machines of eight A100 of 40 GB.
    [[nodiscard]] const SystemParams& a100s(std::uint32_t gpus, std::uint32_t nodes) const;
};

/// What rows of some quantities ask. Throws RowProblem for one that nothing answers.
using AskElastic =
    std::vector<ElasticQuestion> (*)(const ElasticRow& row, const ElasticInputs& inputs);
/// Times of checkpoints and communicators, by configs/costs.
[[nodiscard]] std::vector<ElasticQuestion>
ask_of_costs(const ElasticRow& row, const ElasticInputs& inputs);
/// Times of changes whose processes survive: costs, bytes, and a simulated broadcast.
[[nodiscard]] std::vector<ElasticQuestion>
ask_of_reconnect(const ElasticRow& row, const ElasticInputs& inputs);
/// Steps of device sets over that of one GPU, and all-reduces.
[[nodiscard]] std::vector<ElasticQuestion>
ask_of_set(const ElasticRow& row, const ElasticInputs& inputs);
/// Data-parallel steps, with GPUs placed as stated, over that of one GPU.
[[nodiscard]] std::vector<ElasticQuestion>
ask_of_placement(const ElasticRow& row, const ElasticInputs& inputs);
/// All-reduces of contiguous and strided groups, all groups at once. Rows name neither machine nor
/// size, so only the ratio of a group's bandwidth to that of all GPUs together is compared.
[[nodiscard]] std::vector<ElasticQuestion>
ask_of_groups(const ElasticRow& row, const ElasticInputs& inputs);

/// Asks and answers, quantity by quantity. Adds cases, notes and unmatched rows.
void compare_elastic_rows(
    const std::vector<ElasticRow>& rows, const SuiteOptions& options, SuiteResult& result);

}  // namespace switchfold::validation
