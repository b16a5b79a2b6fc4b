// SPDX-License-Identifier: Apache-2.0
#include "app/trace_output.h"

#include "core/gibibytes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace switchfold {

namespace {

using Counts = std::map<std::string, std::uint64_t>;

void print_counts(const char* title, const Counts& counts) {
    if (counts.empty())
        return;
    fmt::print("  {}:\n", title);
    for (const auto& [what, count] : counts)
        fmt::print("    {:>10}  {}\n", count, what);
}

OrderedJson counts_json(const Counts& counts) {
    OrderedJson out = OrderedJson::object();
    for (const auto& [what, count] : counts)
        out[what] = count;
    return out;
}

std::string counted(std::uint64_t count, const char* one, const char* more) {
    return fmt::format("{} {}", count, count == 1 ? one : more);
}

/// Exact if short, "64 MiB", else "9.72 MB".
std::string readable(Bytes bytes) {
    std::string exact = to_string(bytes);
    constexpr std::size_t kShort = 4;  // digits
    if (exact.find_first_not_of("0123456789") <= kShort)
        return exact;
    const auto count = static_cast<double>(bytes.count());
    constexpr std::array<std::pair<const char*, double>, 3> kUnits{
        {{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}};
    for (const auto& [unit, size] : kUnits)
        if (count >= size)
            return fmt::format("{:.3g} {}", count / size, unit);
    return exact;
}

double share(Time part, Time whole) {
    return whole == Time() ? 0 : to_microseconds(part) / to_microseconds(whole);
}

/// Median and maximum of skew and transfer times of collectives.
struct SpreadOfTimes {
    double median_us = 0;
    double longest_us = 0;
};
template <class Member>
SpreadOfTimes spread(const std::vector<AlignedCollective>& collectives, Member member) {
    std::vector<double> us;
    for (const AlignedCollective& c : collectives)
        us.push_back(to_microseconds(c.*member));
    if (us.empty())
        return {};
    std::sort(us.begin(), us.end());
    return {us[us.size() / 2], us.back()};
}

}  // namespace

std::string listed(const std::vector<std::uint32_t>& ranks) {
    constexpr std::size_t kShown = 16;
    if (ranks.size() <= kShown)
        return fmt::format("{}", fmt::join(ranks, ", "));
    return fmt::format(
        "{}, ... ({} in all)", fmt::join(ranks.begin(), ranks.begin() + kShown, ", "),
        ranks.size());
}

void print_machine(const TraceFileReport& file) {
    fmt::print(
        "{}\n  {}, rank {} of {}, {}, {}\n  {}, {}, {}\n", file.file,
        file.gpu_name.empty() ? "unknown GPU" : file.gpu_name, file.rank, file.world_size,
        counted(file.steps, "step", "steps"), counted(file.streams, "stream", "streams"),
        counted(file.kernels, "kernel", "kernels"),
        counted(file.collectives, "collective", "collectives"),
        counted(file.copies, "copy", "copies"));
    if (file.peak_allocated > 0)
        fmt::print(
            "  memory: {:.2f} GiB handed out by the allocator at most, {:.2f} reserved\n",
            in_gibibytes(static_cast<double>(file.peak_allocated)),
            in_gibibytes(static_cast<double>(file.peak_reserved)));
    if (!file.steps_from.empty())
        fmt::print("  steps: {}\n", file.steps_from);
    if (file.synthetic)
        fmt::print("  synthetic: no real run behind it\n");
}

void print_losses(const TraceFileReport& file) {
    fmt::print(
        "  {} trace, {}\n", file.format.empty() ? "switchfold" : file.format,
        counted(file.events, "event", "events"));
    print_counts("used", file.used);
    print_counts("dropped, by reason", file.dropped);
    print_counts("mended, by what was done", file.mended);
    for (const std::string& warning : file.warnings)
        fmt::print("  note: {}\n", warning);
}

void print_summary(const TraceSummary& summary, const TraceFileReport& file) {
    fmt::print("  kernel time by phase:\n");
    for (const auto& phase : summary.phases)
        fmt::print(
            "    {:>12.1f} us  {:>6} kernels  {}\n", to_microseconds(phase.time), phase.kernels,
            phase.name);
    if (file.host.launches > 0)
        fmt::print(
            "  host: {:.1f} us from one launch to the next where it does not wait, over {}\n",
            to_microseconds(file.host.between), counted(file.host.launches, "launch", "launches"));
    if (file.host.calls > 0)
        fmt::print(
            "  host: {:.1f} us until a collective's, over {}\n",
            to_microseconds(file.host.until_call),
            counted(file.host.calls, "collective", "collectives"));
    if (!summary.collectives.empty())
        fmt::print("  collectives by size:\n");
    for (const auto& c : summary.collectives)
        fmt::print(
            "    {:>12.1f} us  {:>6} {} of {}, the shortest {:.1f} us\n", to_microseconds(c.time),
            c.count, c.kind, c.bytes == Bytes() ? "unknown size" : readable(c.bytes),
            to_microseconds(c.shortest));
    if (summary.communication != Time())
        fmt::print(
            "  overlap: collectives ran for {:.1f} us, kernels beside them in {:.1f} % of it\n",
            to_microseconds(summary.communication),
            100 * share(summary.overlapped, summary.communication));
    if (summary.slowed_kernels > 0)
        fmt::print(
            "  slowdown: {} kernels beside collectives took {:.1f} % longer than they take alone\n",
            summary.slowed_kernels, 100 * summary.slowdown());
    constexpr std::size_t kShown = 8;
    constexpr std::size_t kWidth = 90;
    fmt::print("  kernels that take most:\n");
    for (std::size_t i = 0; i < std::min(kShown, summary.kernels.size()); ++i)
        fmt::print(
            "    {:>12.1f} us  {:>6} x {}\n", to_microseconds(summary.kernels[i].time),
            summary.kernels[i].count, summary.kernels[i].name.substr(0, kWidth));
    print_counts("isolated durations of kernels, by source", file.durations);
    print_counts("bytes of kernels, by source", file.bytes);
    print_counts("sizes of collectives, by source", file.sizes);
    print_counts("algorithms of collectives, as the trace tells them", file.algorithms);
}

void print_alignment(const RankAlignment& alignment, const TraceWorkload& workload) {
    fmt::print("{} ranks together\n", workload.files.size());
    if (!alignment.missing_ranks.empty())
        fmt::print("  missing ranks: {}\n", listed(alignment.missing_ranks));
    if (alignment.collectives.empty()) {
        fmt::print("  no collective on several of them: nothing brings their clocks together\n");
        return;
    }
    fmt::print("  clocks against rank {}'s, by the ends of collectives:\n", workload.files[0].rank);
    for (std::size_t r = 0; r < workload.files.size(); ++r)
        fmt::print(
            "    {:>14.1f} us  +- {:.1f} us  rank {}\n", alignment.clock_offset_us[r],
            alignment.clock_noise_us[r], workload.files[r].rank);
    const SpreadOfTimes skew = spread(alignment.collectives, &AlignedCollective::skew);
    const SpreadOfTimes transfer = spread(alignment.collectives, &AlignedCollective::transfer);
    fmt::print(
        "  {} collectives on several of them: skew {:.1f} us (longest {:.1f} us), transfer {:.1f} "
        "us "
        "(longest {:.1f} us)\n",
        alignment.collectives.size(), skew.median_us, skew.longest_us, transfer.median_us,
        transfer.longest_us);
}

OrderedJson to_json(const TraceFileReport& file) {
    return {
        {"file", file.file},
        {"format", file.format},
        {"gpu", file.gpu_name},
        {"memory_bytes", file.memory_bytes},
        {"peak_allocated_bytes", file.peak_allocated},
        {"peak_reserved_bytes", file.peak_reserved},
        {"rank", file.rank},
        {"world_size", file.world_size},
        {"steps", file.steps},
        {"steps_from", file.steps_from},
        {"synthetic", file.synthetic},
        {"streams", file.streams},
        {"launches", file.host.launches},
        {"between_launches_us", to_microseconds(file.host.between)},
        {"kernels", file.kernels},
        {"collectives", file.collectives},
        {"copies", file.copies},
        {"events", file.events},
        {"used", counts_json(file.used)},
        {"dropped", counts_json(file.dropped)},
        {"mended", counts_json(file.mended)},
        {"isolated_durations", counts_json(file.durations)},
        {"kernel_bytes", counts_json(file.bytes)},
        {"collective_sizes", counts_json(file.sizes)},
        {"collective_algorithms", counts_json(file.algorithms)},
        {"notes", file.warnings}};
}

OrderedJson to_json(const TraceSummary& summary) {
    OrderedJson out;
    out["phases"] = OrderedJson::array();
    for (const auto& phase : summary.phases)
        out["phases"].push_back(
            {{"name", phase.name},
             {"kernels", phase.kernels},
             {"time_us", to_microseconds(phase.time)}});
    out["kernels_by_time"] = OrderedJson::array();
    for (const auto& kernel : summary.kernels)
        out["kernels_by_time"].push_back(
            {{"name", kernel.name},
             {"count", kernel.count},
             {"time_us", to_microseconds(kernel.time)}});
    out["collectives_by_size"] = OrderedJson::array();
    for (const auto& c : summary.collectives)
        out["collectives_by_size"].push_back(
            {{"kind", c.kind},
             {"size_bytes", c.bytes.count()},
             {"count", c.count},
             {"time_us", to_microseconds(c.time)},
             {"shortest_us", to_microseconds(c.shortest)}});
    out["compute_us"] = to_microseconds(summary.compute);
    out["communication_us"] = to_microseconds(summary.communication);
    out["overlapped_us"] = to_microseconds(summary.overlapped);
    out["overlap_share"] = share(summary.overlapped, summary.communication);
    out["slowed_kernels"] = summary.slowed_kernels;
    out["slowdown"] = summary.slowdown();
    return out;
}

OrderedJson to_json(const RankAlignment& alignment, const TraceWorkload& workload) {
    OrderedJson out;
    out["missing_ranks"] = alignment.missing_ranks;
    out["clocks"] = OrderedJson::array();
    for (std::size_t r = 0; r < workload.files.size(); ++r)
        out["clocks"].push_back(
            {{"rank", workload.files[r].rank},
             {"offset_us", alignment.clock_offset_us[r]},
             {"noise_us", alignment.clock_noise_us[r]}});
    out["collectives"] = OrderedJson::array();
    for (const AlignedCollective& c : alignment.collectives)
        out["collectives"].push_back(
            {{"group", workload.graph.groups[c.group].name},
             {"sequence", c.sequence},
             {"ranks", c.ranks},
             {"size_bytes", c.bytes.count()},
             {"skew_us", to_microseconds(c.skew)},
             {"transfer_us", to_microseconds(c.transfer)}});
    return out;
}

OrderedJson to_json(const std::vector<Problem>& problems) {
    OrderedJson out = OrderedJson::array();
    for (const Problem& problem : problems)
        out.push_back(
            {{"file", problem.file}, {"where", problem.pointer}, {"message", problem.message}});
    return out;
}

}  // namespace switchfold
