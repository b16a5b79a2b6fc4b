// SPDX-License-Identifier: Apache-2.0
#include "validation/training/schedule_rows.h"

#include "core/csv.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/schedule/replay.h"
#include "training/plan/schedule/weight_age.h"
#include "validation/harness/csv_numbers.h"
#include "validation/training/learning_orders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace switchfold::validation {

namespace {

class ScheduleComparison {
public:
    ScheduleComparison(const CsvTable& table, std::string label, SuiteResult& result) :
        table_(table), numbers_(std::move(label)), result_(result) {}

    void run() {
        for (const char* column :
             {"id", "schedule", "stages", "micro_batches", "t_f_ms", "quantity", "value"})
            if (!table_.has(column))
                numbers_.fail_header(fmt::format(
                    "names no column {}; expected id, schedule, stages, micro_batches, t_f_ms, "
                    "quantity, value",
                    column));
        numbers_.throw_if_failed();
        for (const CsvRecord& record : table_.records)
            if (!states_learning(record))
                row(record);
        numbers_.throw_if_failed();
        verdicts();
    }

private:
    std::optional<double> number(const CsvRecord& record, std::string_view column) {
        return numbers_.read<double>(record, column, 0, "a number from 0");
    }
    std::uint32_t count(const CsvRecord& record, std::string_view column, std::uint32_t without) {
        return static_cast<std::uint32_t>(number(record, column).value_or(without));
    }

    void row(const CsvRecord& record) {
        const std::string& quantity = record["quantity"];
        const std::optional<double> value = number(record, "value");
        if (!value)
            return;
        Case c;
        c.id = record["id"];
        c.quantity = quantity;
        c.unit = "1";
        c.measured = *value;
        const std::string why =
            quantity == "bubble_share" ? bubble(record, c) : whole_number(record, c);
        if (why.empty())
            result_.cases.push_back(std::move(c));
        else
            result_.unmatched.push_back({record["id"], why});
    }

    /// \returns why it cannot be compared.
    std::string bubble(const CsvRecord& record, Case& c) {
        const ScheduleGenerator* generator = find_schedule(record["schedule"]);
        if (generator == nullptr)
            return fmt::format("no schedule {}", record["schedule"]);
        if (record["t_f_ms"].empty())
            return "times of its passes are not published";
        ScheduleShape shape;
        shape.devices = count(record, "stages", 1);
        shape.micro_batches = count(record, "micro_batches", 1);
        shape.chunks = std::max(1U, count(record, "chunks", 1));
        const auto ms = [&](const char* column) { return number(record, column).value_or(0); };
        shape.forward = ms("t_f_ms");
        shape.input_gradient = ms("t_b_ms");
        shape.weight_gradient = ms("t_w_ms");
        shape.message = ms("t_comm_ms");
        if (const std::string refusal = generator->refusal(shape); !refusal.empty())
            return refusal;
        const PipelineSchedule schedule = generator->make(shape);
        const double parts = static_cast<double>(schedule.stages()) / shape.devices;
        StageTimes times;
        times.forward = shape.forward / parts;
        times.input_gradient = shape.input_gradient / parts;
        times.weight_gradient = shape.weight_gradient / parts;
        const Replay replayed =
            replay(schedule, {std::vector<StageTimes>(schedule.stages(), times), shape.message});
        c.group = fmt::format("bubble share, {}", generator->name);
        c.simulated = replayed.bubble_share;
        constexpr double kRounding = 0.5e-4;  // shares are published with four digits
        c.low = c.measured - kRounding;
        c.high = c.measured + kRounding;
        double& worst = worst_[std::string(generator->name)];
        worst = std::max(worst, std::abs(c.simulated - c.measured));
        return {};
    }

    std::string whole_number(const CsvRecord& record, Case& c) {
        const std::string& quantity = record["quantity"];
        if (record["kind"] == "derived" && quantity.starts_with("rmse"))
            return "was derived from a formula, not measured";
        if (quantity == "loss_gap_to_synchronous")
            return "is of gradients that are all equally late, which those of no pipeline are";
        const std::uint32_t stages = count(record, "stages", 0);
        const std::uint32_t stage = count(record, "stage", 0);
        if (record["schedule"] != "1f1b_async" || stages == 0 || stage >= stages)
            return fmt::format("{} of {} is not compared here", quantity, record["schedule"]);
        const std::uint32_t middle = 4 * stages;
        const PipelineSchedule schedule = asynchronous_1f1b({stages, 2 * middle});
        const WeightAge age = weight_ages(schedule, stage)[middle];
        const StageTimes equal{1, 1, 0, 0, 0};
        const auto until = [&](PassKind kind) {
            const Replay times = replay(schedule, {std::vector<StageTimes>(stages, equal), 0});
            return updates_until_round_trip_ends(schedule, times, {kind, middle, stage});
        };
        std::optional<std::uint32_t> found;
        if (quantity == "forward_updates_missed")
            found = age.forward_missed;
        else if (quantity == "backward_updates_missed")
            found = age.backward_missed;
        else if (quantity == "weight_versions_stashed" || quantity == "mini_batches_in_flight")
            found = versions_stashed(schedule, stage);
        else if (quantity == "predicted_forward_updates")
            found = predicted_forward(stages, stage);
        else if (quantity == "predicted_backward_updates")
            found = predicted_backward(stages, stage);
        else if (quantity == "updates_until_round_trip_ends_from_forward")
            found = until(PassKind::kForward);
        else if (quantity == "updates_until_round_trip_ends_from_backward")
            found = until(PassKind::kBackward);
        if (!found)
            return fmt::format("{} is not compared here", quantity);
        c.group = "whole numbers of asynchronous pipelines";
        c.simulated = *found;
        wrong_ += c.measured == c.simulated ? 0 : 1;
        ++whole_;
        return {};
    }

    void verdicts() {
        for (const auto& [name, worst] : worst_) {
            // For Megatron's order with chunks of one layer, the published times leave 0.004 open;
            // searched schedules depend on a memory limit that the table does not state.
            const bool open = name == "interleaved_1f1b" || name == "zb_2p" || name == "zb_1p";
            const double limit = open ? 0.004 : 1e-4;
            result_.verdicts.push_back(
                {fmt::format("bubble share of {}: largest difference", name), worst, limit});
        }
        if (whole_ > 0)
            result_.verdicts.push_back(
                {fmt::format("{} whole numbers of schedules: wrong ones", whole_),
                 static_cast<double>(wrong_), 0});
    }

    const CsvTable& table_;
    CsvNumbers numbers_;
    SuiteResult& result_;
    std::map<std::string, double> worst_;  ///< by schedule
    std::size_t whole_ = 0;
    std::size_t wrong_ = 0;
};

}  // namespace

void compare_schedules(const std::filesystem::path& table, SuiteResult& result) {
    const CsvTable rows = read_csv(table);
    ScheduleComparison(rows, table.string(), result).run();
}

}  // namespace switchfold::validation
