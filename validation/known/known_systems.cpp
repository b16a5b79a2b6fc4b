// SPDX-License-Identifier: Apache-2.0
#include "validation/known/known_systems.h"

#include "core/csv.h"
#include "sim/config/load.h"
#include "validation/collectives/collective_tables.h"
#include "validation/harness/data.h"
#include "validation/kernels/kernel_gpus.h"
#include "validation/machines/machine_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace switchfold::validation {

namespace {

struct KnownTable {
    std::string_view file;
    std::string_view kind;
    bool of_gpu = false;  ///< its rows name a GPU alone
};

constexpr std::array kKnownTables{
    KnownTable{"reference/nccl_allreduce.csv", "collectives"},
    KnownTable{"reference/nccl_collectives.csv", "collectives"},
    KnownTable{"reference/nccl_issues.csv", "collectives"},
    KnownTable{"reference/low_sm.csv", "kernels of few SMs"},
    KnownTable{"reference/copy_engines.csv", "copy engines"},
    KnownTable{"reference/expert_exchanges.csv", "expert exchanges"},
    KnownTable{"reference/hopper_contention.csv", "kernels beside collectives"},
    KnownTable{"reference/training/training_steps.csv", "training steps"},
    KnownTable{"reference/training/training_steps_public.csv", "training steps"},
    KnownTable{"reference/gemm.csv", "kernels", true},
    KnownTable{"reference/gemm_on_gpus.csv", "kernels", true},
    KnownTable{"reference/attention.csv", "kernels", true},
    KnownTable{"reference/attention_on_gpus.csv", "kernels", true},
    KnownTable{"reference/flash_attention.csv", "kernels", true}};

std::uint32_t count_in(const std::string& text) {
    std::uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// The first "2025-09" of a text, from 2010 to 2029; empty if there is none.
std::string_view month_in(std::string_view text) {
    constexpr std::size_t kLength = 7;
    const auto digit = [&](std::size_t at) {
        return std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    const auto in_word = [&](std::size_t at) {
        return std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_';
    };
    for (std::size_t at = text.find("20");
         at != std::string_view::npos && at + kLength <= text.size();
         at = text.find("20", at + 1)) {
        const bool year = (text[at + 2] == '1' || text[at + 2] == '2') && digit(at + 3);
        const bool month = text[at + 4] == '-' && digit(at + 5) && digit(at + 6) &&
                           (text[at + 5] == '0' || (text[at + 5] == '1' && text[at + 6] <= '2'));
        const bool alone = (at == 0 || !in_word(at - 1)) &&
                           (at + kLength == text.size() || !in_word(at + kLength));
        if (year && month && alone)
            return text.substr(at, kLength);
    }
    return {};
}

/// Tables repeat a version in every row.
using Versions = std::map<std::string, std::optional<std::uint32_t>>;

void note_row(
    const CsvRecord& record, const std::string& table, Versions& versions, KnownKind& kind) {
    ++kind.rows;
    kind.tables.insert(record["id"].empty() ? table : record["id"]);
    if (const std::uint32_t gpus = count_in(record["n_gpus"]); gpus > 0)
        kind.gpus.insert(gpus);
    const auto [version, fresh] = versions.try_emplace(record["nccl_version"]);
    if (fresh)
        version->second = library_version(version->first);
    if (version->second)
        kind.versions.insert(*version->second);
    for (const char* column : {"source", "source_url", "library", "placement", "note"})
        if (const std::string_view month = month_in(record[column]); !month.empty()) {
            kind.dates.emplace(month);
            break;
        }
}

}  // namespace

KnownSystems::KnownSystems(
    Machines machines, const std::filesystem::path& root,
    const std::filesystem::path& measurements) :
    machines_(std::move(machines)) {
    SuiteOptions options;
    options.root = root;
    options.measurements = measurements;
    for (const KnownTable& table : kKnownTables)
        if (const auto found = find_data(options, table.file))
            read(*found, std::string(table.kind), table.of_gpu);
}

std::vector<std::string> KnownSystems::kinds() {
    std::vector<std::string> all;
    for (const KnownTable& table : kKnownTables)
        if (std::find(all.begin(), all.end(), table.kind) == all.end())
            all.emplace_back(table.kind);
    return all;
}

void KnownSystems::read(const std::filesystem::path& table, const std::string& kind, bool of_gpu) {
    // Tables repeat what they say of a machine in every row.
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::string> owners;
    std::map<std::string, std::string> models;  // by the GPU's words
    Versions versions;
    const std::string stem = table.stem().string();
    for (const CsvRecord& record : read_csv(table).records) {
        if (of_gpu) {
            const auto [model, fresh] = models.try_emplace(record["gpu"]);
            if (fresh)
                model->second = machine_words(record["gpu"]).gpu;
            note_row(record, stem, versions, kernels_[model->second]);
            continue;
        }
        const auto [at, fresh] = owners.try_emplace(
            {record["gpu"], record["interconnect"], record["n_gpus"], record["n_nodes"]});
        if (fresh) {
            WantedMachine wanted{
                record["gpu"], record["interconnect"], count_in(record["n_gpus"]), std::nullopt};
            if (const std::uint32_t nodes = count_in(record["n_nodes"]); nodes > 0)
                wanted.nodes = nodes;
            if (wanted.gpus > 0)
                at->second = machines_.name_of(wanted);
        }
        if (!at->second.empty())
            note_row(record, stem, versions, systems_[at->second][kind]);
    }
}

const std::map<std::string, KnownKind>& KnownSystems::of_system(const std::string& name) const {
    static const std::map<std::string, KnownKind> kNone;
    const auto at = systems_.find(name);
    return at == systems_.end() ? kNone : at->second;
}

const KnownKind& KnownSystems::kernels_of(const std::string& gpu) const {
    static const KnownKind kNone;
    const auto at = kernels_.find(machine_words(gpu).gpu);
    return at == kernels_.end() ? kNone : at->second;
}

std::size_t KnownSystems::rows_of(const std::string& name) const {
    std::size_t rows = 0;
    for (const auto& [kind, known] : of_system(name))
        rows += known.rows;
    return rows;
}

}  // namespace switchfold::validation
