// SPDX-License-Identifier: Apache-2.0
#include "app/batch_plan.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/system_queries.h"
#include "training/plan/division/batch_division.h"
#include "training/plan/division/step_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

namespace {

struct BatchArguments {
    std::string table;
    std::uint32_t batch = 0;
    std::vector<std::string> gpus;
    std::string system;
    std::uint32_t micro_batch = 0;
    double overhead = 0;
    bool padded = false;
    bool json = false;
};

/// GPU of each device: those requested, otherwise those of the system, otherwise one of each in the
/// table.
std::vector<std::string> devices_of(const BatchArguments& arguments, const StepTable& table) {
    std::vector<std::string> devices = arguments.gpus;
    if (!arguments.system.empty()) {
        const SystemParams system = load_system(arguments.system, {});
        const RankGpus gpus(system);
        const std::uint32_t all = gpus_of(system);
        for (std::uint32_t rank = 0; rank < all; ++rank)
            devices.push_back(gpus.of(rank).name);
    }
    if (devices.empty())
        for (const auto& [gpu, steps] : table)
            devices.push_back(gpu);
    std::vector<std::string_view> known;
    for (const auto& [gpu, steps] : table)
        known.emplace_back(gpu);
    std::vector<Problem> problems;
    for (const std::string& device : devices) {
        if (table.contains(device))
            continue;
        const std::string near = nearest(device, known);
        const Problem problem{
            arguments.table, "gpu",
            fmt::format(
                "has no step time of \"{}\"{}; expected one of its GPUs: {}{}", device,
                arguments.system.empty() ? "" : ", which " + arguments.system + " has",
                fmt::join(known, ", "),
                near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near))};
        if (problems.empty() || problems.back().message != problem.message)
            problems.push_back(problem);
    }
    if (!problems.empty())
        throw ConfigError(std::move(problems));
    return devices;
}

/// Step times of a GPU from the table, in micro-batches or padded if requested.
std::vector<double>
seconds_of(const BatchArguments& arguments, const std::string& gpu, const MeasuredSteps& steps) {
    std::vector<double> seconds = seconds_by_samples(steps);
    if (arguments.micro_batch > 0) {
        if (arguments.micro_batch >= seconds.size())
            throw ConfigError(
                "--micro-batch", "",
                fmt::format(
                    "is {}, and {} was measured with at most {}; expected at most that",
                    arguments.micro_batch, gpu, seconds.size() - 1));
        seconds = with_micro_batches(seconds, arguments.batch, arguments.micro_batch);
    }
    if (arguments.padded)
        seconds = padded(seconds);
    return seconds;
}

std::optional<BatchDivision>
divided(const BatchArguments& arguments, const std::vector<StepTimes>& devices) {
    if (arguments.overhead == 0)
        return divide(devices, arguments.batch);
    if (!std::all_of(devices.begin(), devices.end(), is_monotone))
        throw ConfigError(
            "--overhead", "",
            "is for times that never fall with more samples; expected --padded too");
    std::vector<double> overhead{0};
    for (std::size_t n = 1; n <= devices.size(); ++n)
        overhead.push_back(static_cast<double>(n) * arguments.overhead);
    return divide_over_some(devices, arguments.batch, overhead);
}

std::string_view name_of(DivisionMethod method) {
    switch (method) {
    case DivisionMethod::kEven:
        return "even";
    case DivisionMethod::kGreedy:
        return "greedy";
    case DivisionMethod::kExact:
        return "exact";
    case DivisionMethod::kPadded:
        return "greedy on padded times";
    }
    return "";
}

OrderedJson spread_json(const StepSpread& spread) {
    return {
        {"seconds", spread.longest},
        {"max_over_mean", spread.longest_over_mean()},
        {"deviation_seconds", spread.deviation}};
}

/// A batch, the devices that share it, and the method.
struct Answer {
    const BatchArguments& arguments;
    std::vector<std::string> names;
    std::vector<StepTimes> devices;
    BatchDivision best;
    std::optional<BatchDivision> even;

    [[nodiscard]] double weight(std::size_t i) const {
        return static_cast<double>(best.samples[i]) / arguments.batch;
    }
    [[nodiscard]] double seconds(const BatchDivision& division, std::size_t i) const {
        return devices[i][division.samples[i]];
    }

    [[nodiscard]] std::string json() const {
        OrderedJson rows = OrderedJson::array();
        for (std::size_t i = 0; i < names.size(); ++i)
            rows.push_back(
                {{"gpu", names[i]},
                 {"samples", best.samples[i]},
                 {"weight", weight(i)},
                 {"seconds", seconds(best, i)}});
        OrderedJson out{
            {"batch", arguments.batch}, {"method", name_of(best.method)},
            {"devices", rows},          {"balanced", spread_json(spread_of(devices, best.samples))},
            {"equal", nullptr},         {"ratio", nullptr}};
        if (even) {
            out["equal"] = spread_json(spread_of(devices, even->samples));
            out["ratio"] = even->seconds / best.seconds;
        }
        return out.dump(2) + "\n";
    }

    [[nodiscard]] std::string text() const {
        std::size_t width = 4;
        for (const std::string& name : names)
            width = std::max(width, name.size());
        std::string out = fmt::format(
            "{:<{}}  {:>8}  {:>8}  {:>10}  {:>8}  {:>10}\n", "GPU", width, "samples", "weight",
            "seconds", "equal", "seconds");
        for (std::size_t i = 0; i < names.size(); ++i)
            out += fmt::format(
                "{:<{}}  {:>8}  {:>8.4f}  {:>10.4f}  {:>8}  {:>10}\n", names[i], width,
                best.samples[i], weight(i), seconds(best, i),
                even ? fmt::format("{}", even->samples[i]) : "-",
                even ? fmt::format("{:.4f}", seconds(*even, i)) : "-");
        const auto told = [&](const BatchDivision& division) {
            const StepSpread spread = spread_of(devices, division.samples);
            return fmt::format(
                "{:.4f} s, {:.3f} times the mean, standard deviation {:.4f} s", spread.longest,
                spread.longest_over_mean(), spread.deviation);
        };
        out += fmt::format("\nbalanced ({}): {}\n", name_of(best.method), told(best));
        if (!even)
            return out + "equal shares: some GPU cannot hold its share\n";
        return out + fmt::format(
                         "equal shares: {}; {:.2f} times as long\n", told(*even),
                         even->seconds / best.seconds);
    }
};

int plan_batch_of(const BatchArguments& arguments) {
    const StepTable table = read_step_table(arguments.table);
    Answer answer{arguments, devices_of(arguments, table), {}, {}, {}};
    std::map<std::string, std::vector<double>> seconds;
    for (const std::string& name : answer.names)
        if (!seconds.contains(name))
            seconds[name] = seconds_of(arguments, name, table.at(name));
    std::uint64_t most = 0;
    for (const std::string& name : answer.names) {
        answer.devices.emplace_back(seconds.at(name));
        most += seconds.at(name).size() - 1;
    }
    const auto best = divided(arguments, answer.devices);
    if (!best)
        throw ConfigError(
            "--batch", "",
            fmt::format(
                "is {}, and the table has step times of these GPUs for {} together; expected at "
                "most that, or --micro-batch",
                arguments.batch, most));
    answer.best = *best;
    answer.even = divide_evenly(answer.devices, arguments.batch);
    const std::string text = arguments.json ? answer.json() : answer.text();
    std::fwrite(text.data(), 1, text.size(), stdout);
    return static_cast<int>(ExitCode::kDone);
}

}  // namespace

void add_plan_batch(CLI::App& plan, Chosen& chosen) {
    auto arguments = std::make_shared<BatchArguments>();
    CLI::App* command = plan.add_subcommand(
        "batch", "Divide a batch over GPUs that differ, by measured step times, so that the "
                 "slowest ends as early as possible.\n\nExample:\n"
                 "  switchfold plan batch --table configs/examples/resnet50_steps.csv --batch 300");
    command->add_option("--table", arguments->table, "Step times: CSV with gpu, batch, seconds")
        ->required();
    constexpr std::uint32_t kMost = 1U << 20U;
    command->add_option("--batch", arguments->batch, "Samples of a step on all GPUs")
        ->required()
        ->check(CLI::Range(1U, kMost));
    auto* gpus = command
                     ->add_option(
                         "--gpu", arguments->gpus,
                         "A participating GPU, by its name in the table; may be repeated. Default: "
                         "one of each")
                     ->allow_extra_args(false);
    command->add_option("--system", arguments->system, "System (JSON) whose GPUs participate")
        ->excludes(gpus);
    command
        ->add_option(
            "--micro-batch", arguments->micro_batch,
            "Limit on the samples of a GPU at a time; the table's times of micro-batches are added "
            "up")
        ->check(CLI::Range(1U, kMost));
    command
        ->add_option(
            "--overhead", arguments->overhead,
            "Seconds that each participating GPU adds to the step, so that fewer may be faster")
        ->check(CLI::Range(0.0, 1e6));
    command->add_flag("--padded", arguments->padded, "A GPU may pad its batch");
    command->add_flag("--json", arguments->json, "Print JSON");
    command->callback(
        [arguments, &chosen] { chosen = [arguments] { return plan_batch_of(*arguments); }; });
}

}  // namespace switchfold
