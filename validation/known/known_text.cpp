// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "validation/kernels/kernel_gpus.h"
#include "validation/known/known_systems.h"
#include "validation/machines/machine_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace switchfold::validation {

namespace {

std::string version_of(std::uint32_t version) {
    constexpr std::uint32_t kMajor = 10'000;
    constexpr std::uint32_t kMinor = 100;
    return fmt::format("{}.{}.{}", version / kMajor, version / kMinor % kMinor, version % kMinor);
}

template <class T, class Text>
std::string range_of(const std::set<T>& values, Text text) {
    if (values.size() == 1)
        return text(*values.begin());
    return fmt::format("{} to {}", text(*values.begin()), text(*values.rbegin()));
}

/// "504 rows of 24 tables, 2 to 8 GPUs, NCCL 2.29.2, 2024-03 to 2025-09".
std::string known_kind_text(const KnownKind& kind) {
    std::string text = fmt::format(
        "{} {} of {} {}", kind.rows, kind.rows == 1 ? "row" : "rows", kind.tables.size(),
        kind.tables.size() == 1 ? "table" : "tables");
    if (!kind.gpus.empty())
        text += fmt::format(
            ", {} GPUs", range_of(kind.gpus, [](std::uint32_t n) { return fmt::format("{}", n); }));
    if (!kind.versions.empty())
        text += ", NCCL " + range_of(kind.versions, version_of);
    if (!kind.dates.empty())
        text += ", " + range_of(kind.dates, [](const std::string& date) { return date; });
    return text;
}

/// Other systems with a GPU of the same model and measurements, most rows first.
std::vector<std::pair<std::size_t, std::string>>
of_same_gpu(const SystemParams& system, const KnownSystems& known) {
    std::vector<std::pair<std::size_t, std::string>> found;
    const std::string model = machine_words(system.gpu->name).gpu;
    for (const KnownMachine& other : known.systems()) {
        const std::size_t rows = known.rows_of(other.name);
        if (rows == 0 || other.name == system.name || model.empty())
            continue;
        if (std::any_of(other.words.begin(), other.words.end(), [&](const MachineWords& words) {
                return words.gpu == model;
            }))
            found.emplace_back(rows, other.name);
    }
    std::stable_sort(
        found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return found;
}

}  // namespace

std::string describe_known(const SystemParams& system, const KnownSystems& known) {
    std::string out = "\nhow well it is known:\n";
    const auto& kinds = known.of_system(system.name);
    for (const std::string& kind : KnownSystems::kinds())
        if (const auto at = kinds.find(kind); at != kinds.end())
            out += fmt::format("  {:<28} {}\n", kind, known_kind_text(at->second));
    if (kinds.empty()) {
        out += "  nothing was measured on this system";
        const auto others = of_same_gpu(system, known);
        constexpr std::size_t kNamed = 3;
        for (std::size_t i = 0; i < std::min(kNamed, others.size()); ++i)
            out += fmt::format(
                "{} {} ({} rows)", i == 0 ? "; its GPU was on" : ",", others[i].second,
                others[i].first);
        out += others.empty() ? ", nor on another with its GPU\n" : "\n";
    }
    if (const KnownKind& kernels = known.kernels_of(system.gpu->name); kernels.rows > 0)
        out += fmt::format(
            "  {:<28} {}\n", fmt::format("kernels of {}", machine_words(system.gpu->name).gpu),
            known_kind_text(kernels));
    else
        out += "  its GPU's kernels were not measured\n";
    return out;
}

std::string summary_of_known(const KnownSystems& known) {
    std::size_t measured = 0;
    std::size_t rows = 0;
    for (const KnownMachine& system : known.systems()) {
        const std::size_t more = known.rows_of(system.name);
        measured += more > 0 ? 1 : 0;
        rows += more;
    }
    return fmt::format(
        "{} rows on {} of {} systems; switchfold doctor --systems lists them", rows, measured,
        known.systems().size());
}

std::string table_of_known(const KnownSystems& known) {
    std::string out;
    for (const KnownMachine& system : known.systems()) {
        const auto& kinds = known.of_system(system.name);
        std::string text;
        for (const std::string& kind : KnownSystems::kinds())
            if (const auto at = kinds.find(kind); at != kinds.end())
                text += fmt::format(
                    "{}{}: {}", text.empty() ? "" : "; ", kind, known_kind_text(at->second));
        out += fmt::format("  {:<28} {}\n", system.name, text.empty() ? "not measured" : text);
    }
    return out;
}

}  // namespace switchfold::validation
