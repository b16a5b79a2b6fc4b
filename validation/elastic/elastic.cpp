// SPDX-License-Identifier: Apache-2.0
#include "core/text_cells.h"
#include "validation/elastic/division.h"
#include "validation/elastic/elastic_row.h"
#include "validation/experiments/mapped_suite.h"
#include "validation/experiments/row_values.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::string_view kElasticMap = "validation/maps/elastic.json";
constexpr std::string_view kOneGpu = "step_time";

struct AskedQuantities {
    std::string_view quantities;  ///< a condition, as in maps
    AskElastic ask;
};
constexpr AskedQuantities kAsked[]{
    {"checkpoint_save_time|checkpoint_load_time|communicator_time", ask_of_costs},
    {"change_time", ask_of_reconnect},
    {"steps_per_second|all_reduce_time", ask_of_set},
    {"step_time_over_one_gpu", ask_of_placement},
    {"all_reduce_bus_bandwidth", ask_of_groups}};

bool is_asked(const AskedQuantities& asked, const ElasticRow& row) {
    return row.why.empty() && meets(asked.quantities, row["quantity"]);
}

/// Simulates what is to be simulated, equal jobs once.
void answer_all(std::vector<ElasticQuestion>& questions, const SuiteOptions& options) {
    std::vector<Job> jobs;
    std::map<std::string, std::size_t> job_of;
    for (const ElasticQuestion& question : questions)
        if (question.job.run && job_of.emplace(question.job.label, jobs.size()).second)
            jobs.push_back(question.job);
    const std::vector<double> numbers = values_of_suite<double>(jobs, options);
    for (ElasticQuestion& question : questions) {
        const double number =
            question.job.run ? numbers[job_of.at(question.job.label)] : question.c.simulated;
        if (question.answer)
            question.answer(number, question.c);
        else
            question.c.simulated = number;
    }
}

void tell_answers(std::vector<ElasticQuestion> questions, SuiteResult& result) {
    std::map<std::string, Case> bases;
    for (const ElasticQuestion& question : questions)
        if (!question.base.empty()) {
            bases[question.beside] = question.c;
            result.notes.push_back(fmt::format(
                "{}: {:.4g} measured, {:.4g} simulated; others are compared with it", question.base,
                question.c.measured, question.c.simulated));
        }
    for (ElasticQuestion& question : questions) {
        Case& c = question.c;
        if (!question.base.empty())
            continue;
        if (!question.beside.empty()) {
            const auto base = bases.find(question.beside);
            if (base == bases.end()) {
                result.unmatched.push_back({c.id, "has no row beside it to be compared with"});
                continue;
            }
            c.measured /= base->second.measured;
            c.simulated /= base->second.simulated;
        }
        result.cases.push_back(std::move(c));
    }
}

}  // namespace

ElasticRow::ElasticRow(const MeasuredExperiment& row) :
    id(row.id),
    record(row.record),
    value(plain_number(row.record["value"]).value_or(0)),
    why(why_without_line(row)) {}

std::uint32_t ElasticRow::count(std::string_view column) const {
    if (record[column].empty())
        return 0;
    const auto number = parse_count(record[column]);
    if (!number || *number == 0 || *number > std::numeric_limits<std::uint32_t>::max())
        throw RowProblem{
            fmt::format("{} is \"{}\"; expected a number from 1", column, record[column])};
    return static_cast<std::uint32_t>(*number);
}

const SystemParams& ElasticInputs::system(const WantedMachine& wanted) const {
    const MachineMatch& match = machines.find(wanted);
    if (!match.machine)
        throw RowProblem{"names no machine that there is"};
    return match.machine->system;
}

const SystemParams& ElasticInputs::a100s(std::uint32_t gpus, std::uint32_t nodes) const {
    return system(
        {"A100-SXM4-40GB", nodes > 1 ? "NVSwitch, InfiniBand HDR" : "NVSwitch", gpus,
         std::max(1U, nodes)});
}

void compare_elastic_rows(
    const std::vector<ElasticRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    const Machines machines(options.root);
    const ElasticInputs inputs{rows, options, machines};
    for (const AskedQuantities& asked : kAsked) {
        std::vector<ElasticQuestion> questions;
        for (const ElasticRow& row : rows)
            if (is_asked(asked, row))
                try {
                    std::ranges::move(asked.ask(row, inputs), std::back_inserter(questions));
                } catch (const RowProblem& problem) {
                    result.unmatched.push_back({row.id, problem.why});
                }
        answer_all(questions, options);
        tell_answers(std::move(questions), result);
    }
}

SuiteResult run_elastic(const SuiteOptions& options) {
    const Suite& suite = suite_named("elastic");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const auto read = mapped_rows(*data, kElasticMap, options, result);
    const std::vector<ElasticRow> rows(read.begin(), read.end());
    compare_elastic_rows(rows, options, result);
    StepTable one_gpu;
    for (const ElasticRow& row : rows)
        if (row["quantity"] == kOneGpu && row.why.empty())
            try {
                one_gpu[row["gpu"]][row.count("batch")] = row.value;
            } catch (const RowProblem& problem) {
                result.unmatched.push_back({row.id, problem.why});
            }
    if (!one_gpu.empty())
        add_division(one_gpu, result);
    for (const ElasticRow& row : rows)
        if (!row.why.empty())
            result.unmatched.push_back({row.id, row.why});
        else if (row["quantity"] != kOneGpu && std::ranges::none_of(kAsked, [&](const auto& one) {
                     return is_asked(one, row);
                 }))
            result.unmatched.push_back({row.id, "is of a quantity that no simulation answers"});
    return result;
}

}  // namespace switchfold::validation
