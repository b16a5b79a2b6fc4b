// SPDX-License-Identifier: Apache-2.0
#include "app/memory_plan_report.h"

#include "core/json.h"
#include "core/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

double mebi(std::uint64_t bytes) {
    return static_cast<double>(bytes) / (1024.0 * 1024);
}

double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

double kernel_seconds(const TensorUses& schedule) {
    double seconds = 0;
    for (const LayerUse& step : schedule.steps)
        seconds += step.seconds;
    return seconds;
}

std::string head(const MemoryWorkload& workload) {
    const TensorUses& schedule = workload.schedule;
    return fmt::format(
        "{}, batch {}, on {}: {} steps, {:.3f} ms of kernels\n"
        "always resident {:.0f} MiB, may be offloaded {:.0f} MiB; copies {:.1f} GB/s in, {:.1f} "
        "GB/s out\n",
        workload.network, workload.batch, workload.gpu, schedule.steps.size(),
        to_milliseconds(kernel_seconds(schedule)), mebi(schedule.resident_bytes),
        mebi(candidate_bytes(schedule)), workload.rates.in / 1e9, workload.rates.out / 1e9);
}

std::string proof_of(const OffloadPlan& plan) {
    if (!plan.saved_at_most)
        return "no bound";
    if (plan.certificate.optimal || *plan.gap() == 0)
        return "optimal";
    return fmt::format("{:.0f} MiB", mebi(*plan.gap()));
}

std::string largest_batch_words(const std::optional<std::uint32_t>& largest) {
    return largest.value_or(0) > 0 ? fmt::format("at most micro_batch {} fits", *largest)
                                   : "not even one sample fits";
}

/// What the simulator says of a plan; null if it was not asked or the plan does not fit.
const SimulatedMemoryPlan* simulated_of(
    const MemoryComparison& comparison, std::uint64_t memory, const ComparedPlan& compared) {
    for (const SimulatedMemoryPlan& one : comparison.simulated)
        if (one.memory == memory && one.planner == compared.plan.planner &&
            one.staging == compared.plan.staging && one.refusal.empty())
            return &one;
    return nullptr;
}

std::string plan_line(const ComparedPlan& compared, const SimulatedMemoryPlan* simulated) {
    const OffloadPlan& plan = compared.plan;
    const std::string who =
        fmt::format("  {:<12} {:<11}", name_of(plan.planner), name_of(plan.staging));
    if (!compared.replay)
        return fmt::format(
            "{}  {}; {}\n", who, plan.refusal, largest_batch_words(compared.largest_batch));
    const auto known = [&](double value, int decimals) {
        return simulated == nullptr ? std::string("-") : fmt::format("{:.{}f}", value, decimals);
    };
    constexpr double kMebiOfGibi = 1024;
    return fmt::format(
        "{} {:>9.0f} {:>6.1f} {:>9.0f} {:>11} {:>9.0f} {:>9} {:>9.3f} {:>9}\n", who,
        mebi(plan.retained_bytes),
        percent(
            static_cast<double>(plan.retained_bytes), static_cast<double>(plan.candidate_bytes)),
        mebi(plan.moved_bytes()), proof_of(plan), mebi(plan.floor_bytes()),
        known(simulated == nullptr ? 0 : to_milliseconds(simulated->seconds), 3),
        to_milliseconds(compared.replay->seconds),
        known(simulated == nullptr ? 0 : simulated->peak_gib * kMebiOfGibi, 0));
}

/// Splits the gain by origin: retained bytes in percent of those that first_fit retains, copies in
/// percent of those that it makes.
std::string gain_line(const ComparedMemory& compared) {
    for (const ComparedPlan& one : compared.plans) {
        if (one.plan.planner != OffloadPlanner::kFirstFit || !compared.by_programme)
            continue;
        const auto words = [&](const PinGain& gain) {
            return fmt::format(
                "{:+.1f} % retained, {:+.1f} % copies",
                percent(
                    static_cast<double>(gain.retained),
                    static_cast<double>(one.plan.retained_bytes)),
                -percent(
                    static_cast<double>(gain.saved), static_cast<double>(one.plan.moved_bytes())));
        };
        return fmt::format(
            "  beyond first_fit: the programme {}; exact staging {} more\n",
            words(*compared.by_programme),
            compared.by_staging ? words(*compared.by_staging) : std::string("?"));
    }
    return {};
}

std::string
update_table(const MemoryWorkload& workload, const std::vector<ComparedUpdate>& updates) {
    const std::uint64_t all = sum_of_bytes(layer_groups(workload.layers));
    std::string text = fmt::format(
        "\ngradients, {:.0f} MiB of all layers; a bound on the time of backward pass and updates\n"
        "  {:<38} {:>9} {:>7} {:>9} {:>9}\n",
        mebi(all), "updates", "MiB", "saved %", "shadow", "bound ms");
    for (const ComparedUpdate& one : updates)
        text += fmt::format(
            "  {:<38} {:>9.1f} {:>7.1f} {:>9.1f} {:>9.3f}\n", one.what, mebi(one.replay.reserved),
            100 - percent(static_cast<double>(one.replay.reserved), static_cast<double>(all)),
            mebi(one.replay.shadow), to_milliseconds(one.replay.seconds));
    return text;
}

std::string recompute_table(const std::vector<ComparedRecompute>& recomputes) {
    std::string text = fmt::format(
        "\nactivations and their gradients, block by block, nothing retained or moved otherwise\n"
        "  {:<38} {:>9} {:>9} {:>9}\n",
        "recomputed", "MiB", "moved", "again ms");
    for (const ComparedRecompute& one : recomputes)
        text += fmt::format(
            "  {:<38} {:>9.0f} {:>9.0f} {:>9.3f}\n", one.what, mebi(one.cost.peak),
            mebi(2 * one.cost.offloaded), to_milliseconds(one.cost.extra));
    return text;
}

OrderedJson to_json(const SimulatedMemoryPlan& plan) {
    OrderedJson json{
        {"memory_bytes", plan.memory},
        {"planner", name_of(plan.planner)},
        {"staging", name_of(plan.staging)}};
    if (!plan.refusal.empty()) {
        json["refused"] = plan.refusal;
        return json;
    }
    json["seconds"] = plan.seconds;
    json["peak_memory_gib"] = plan.peak_gib;
    return json;
}

OrderedJson to_json(const ComparedPlan& compared, const SimulatedMemoryPlan* simulated) {
    const OffloadPlan& plan = compared.plan;
    OrderedJson json{{"planner", name_of(plan.planner)}, {"staging", name_of(plan.staging)}};
    if (!compared.replay) {
        json["refused"] = plan.refusal;
        json["largest_micro_batch"] = compared.largest_batch.value_or(0);
        return json;
    }
    json["retained_bytes"] = plan.retained_bytes;
    json["bytes_in"] = plan.bytes_in;
    json["bytes_out"] = plan.bytes_out;
    json["staging_bytes"] = plan.staging_bytes;
    json["floor_bytes"] = plan.floor_bytes();
    json["saved_bytes"] = plan.saved_bytes;
    if (plan.saved_at_most)
        json["saved_at_most_bytes"] = *plan.saved_at_most;
    if (plan.planner == OffloadPlanner::kOptimal)
        json["certificate"] = {
            {"optimal", plan.certificate.optimal},
            {"window_bytes", plan.certificate.window},
            {"windows_tried", plan.certificate.windows_tried},
            {"flags", plan.certificate.flags},
            {"granule_bytes", plan.certificate.granule},
            {"rounding_bytes", plan.certificate.rounding}};
    if (simulated != nullptr) {
        json["seconds"] = simulated->seconds;
        json["peak_memory_gib"] = simulated->peak_gib;
    }
    json["plan_at_least_s"] = compared.replay->seconds;
    json["at_least_s"] = compared.replay->at_least;
    json["step_bytes"] = plan.step_bytes;
    return json;
}

OrderedJson retained_items(const MemoryWorkload& workload, const OffloadPlan& plan) {
    OrderedJson names = OrderedJson::array();
    for (std::size_t i = 0; i < plan.retained.size(); ++i)
        if (plan.retained[i])
            names.push_back(workload.schedule.items[i].name);
    return names;
}

}  // namespace

std::vector<ComparedUpdate> compare_updates(const MemoryWorkload& workload) {
    std::vector<ComparedUpdate> compared;
    const auto groups = layer_groups(workload.layers);
    const auto add = [&](const char* what, UpdatePolicy policy, std::uint64_t ring,
                         std::uint32_t buffers, const std::vector<GradientGroup>& of) {
        UpdateOptions options;
        options.policy = policy;
        options.ring = ring;
        options.fixed_buffers = buffers;
        compared.push_back({what, replay_update(workload.layers, of, options)});
    };
    add("batch", UpdatePolicy::kBatch, 0, 0, groups);
    add("immediate", UpdatePolicy::kImmediate, 0, 0, groups);
    add("overlapped, ring of two neighbours", UpdatePolicy::kOverlapped, 0, 0, groups);
    add("delayed, one buffer", UpdatePolicy::kDelayed, 0, 0, groups);
    const std::uint64_t pair = std::max(largest_pair(groups), least_ring(workload.layers, groups));
    add("delayed, ring of two neighbours", UpdatePolicy::kDelayed, pair, 0, groups);
    const auto buckets = bucket_groups(workload.layers, workload.first_bucket, workload.bucket);
    add("delayed, one bucket", UpdatePolicy::kDelayed, 0, 0, buckets);
    return compared;
}

std::vector<ComparedRecompute> compare_recompute(const MemoryWorkload& workload) {
    const std::vector<ChainUnit>& chain = workload.chain;
    std::vector<ComparedRecompute> compared;
    const auto rule = [&](std::string what, const RecomputePlan& plan) {
        compared.push_back({std::move(what), cost_of(chain, plan)});
    };
    rule("none", keep_all(chain));
    rule("selective", recompute_selective(chain));
    rule("full", recompute_full(chain));
    const auto root = static_cast<std::uint32_t>(std::lround(std::sqrt(chain.size())));
    rule(fmt::format("every {}", root), recompute_every(chain, root));
    const std::uint64_t least = least_recompute_memory(chain);
    const std::uint64_t most = compared.front().cost.peak;
    const auto exact = [&](const char* what, std::uint64_t memory, std::uint64_t budget) {
        const RecomputeChoice choice = recompute_exactly(chain, {memory, budget});
        if (choice.plan)
            compared.push_back({what, choice.cost});
    };
    for (const std::uint64_t quarters : {0U, 1U, 2U, 3U})
        exact("exact", least + (most - least) / 4 * quarters, 0);
    for (const std::uint64_t quarters : {0U, 1U, 2U, 3U})
        exact(
            "exact, and copies that hide", least + (most - least) / 4 * quarters,
            workload.hidden_copies);
    return compared;
}

std::string memory_plan_text(const MemoryWorkload& workload, const MemoryComparison& comparison) {
    std::string text = head(workload);
    for (const ComparedMemory& compared : comparison.memories) {
        text += fmt::format(
            "\n{:.0f} MiB of memory\n  {:<12} {:<11} {:>9} {:>6} {:>9} {:>11} {:>9} {:>9} {:>9} "
            "{:>9}\n",
            mebi(compared.memory), "planner", "staging", "retained", "%", "moved", "from best",
            "floor", "time ms", "bound ms", "peak MiB");
        for (const ComparedPlan& plan : compared.plans)
            text += plan_line(plan, simulated_of(comparison, compared.memory, plan));
        text += gain_line(compared);
        if (compared.orders)
            text += fmt::format(
                "  first_fit in {} seeded orders: retains {:.0f} to {:.0f} MiB, {:.0f} on "
                "average\n",
                kSeededOrders, mebi(compared.orders->least), mebi(compared.orders->most),
                compared.orders->mean / (1024.0 * 1024));
    }
    return text + update_table(workload, comparison.updates) +
           recompute_table(comparison.recomputes);
}

std::string memory_plan_json(const MemoryWorkload& workload, const MemoryComparison& comparison) {
    OrderedJson json{
        {"network", workload.network},
        {"batch", workload.batch},
        {"gpu", workload.gpu},
        {"steps", workload.schedule.steps.size()},
        {"kernels_s", kernel_seconds(workload.schedule)},
        {"resident_bytes", workload.schedule.resident_bytes},
        {"candidate_bytes", candidate_bytes(workload.schedule)}};
    json["memories"] = OrderedJson::array();
    for (const ComparedMemory& compared : comparison.memories) {
        OrderedJson one{{"memory_bytes", compared.memory}, {"plans", OrderedJson::array()}};
        for (const ComparedPlan& plan : compared.plans) {
            one["plans"].push_back(to_json(plan, simulated_of(comparison, compared.memory, plan)));
            if (plan.replay)
                one["plans"].back()["retained"] = retained_items(workload, plan.plan);
        }
        const auto gain = [&](const char* whose, const std::optional<PinGain>& of) {
            if (of)
                one[whose] = {{"retained_bytes", of->retained}, {"saved_bytes", of->saved}};
        };
        if (compared.orders)
            one["first_fit_orders"] = {
                {"orders", kSeededOrders},
                {"least_retained_bytes", compared.orders->least},
                {"mean_retained_bytes", compared.orders->mean},
                {"most_retained_bytes", compared.orders->most}};
        gain("gain_of_programme", compared.by_programme);
        gain("gain_of_staging", compared.by_staging);
        json["memories"].push_back(std::move(one));
    }
    for (const SimulatedMemoryPlan& plan : comparison.simulated)
        json["simulated"].push_back(to_json(plan));
    json["updates"] = OrderedJson::array();
    for (const ComparedUpdate& update : comparison.updates)
        json["updates"].push_back(
            {{"policy", update.what},
             {"gradient_bytes", update.replay.reserved},
             {"shadow_bytes", update.replay.shadow},
             {"at_least_s", update.replay.seconds}});
    json["recompute"] = OrderedJson::array();
    for (const ComparedRecompute& one : comparison.recomputes)
        json["recompute"].push_back(
            {{"what", one.what},
             {"activation_bytes", one.cost.peak},
             {"offloaded_bytes", one.cost.offloaded},
             {"extra_s", one.cost.extra}});
    return json.dump(2) + "\n";
}

}  // namespace switchfold
