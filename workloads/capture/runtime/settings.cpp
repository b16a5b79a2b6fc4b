// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/runtime/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace switchfold::capture {

namespace {

std::optional<std::uint32_t> number(const std::optional<std::string>& text) {
    std::uint32_t value = 0;
    if (!text)
        return std::nullopt;
    const char* const end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, value);
    return error == std::errc() && stop == end && !text->empty() ? std::optional(value)
                                                                 : std::nullopt;
}

// Slurm sets SLURM_PROCID also for the single shell that starts torchrun, so launchers closer to
// the program come first.
constexpr std::array<std::pair<const char*, const char*>, 6> kRanks{
    {{"RANK", "WORLD_SIZE"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"PMIX_RANK", "PMIX_SIZE"},
     {"PMI_RANK", "PMI_SIZE"},
     {"SLURM_PROCID", "SLURM_NTASKS"},
     {"LOCAL_RANK", "LOCAL_WORLD_SIZE"}}};

}  // namespace

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* const value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

std::optional<Settings> settings_from(const Environment& environment) {
    Settings settings;
    settings.directory = environment(kDirectoryVariable).value_or("");
    if (settings.directory.empty())
        return std::nullopt;
    settings.counters = environment(kCountersVariable).value_or("0") == "1";
    settings.cupti = environment(kCuptiVariable).value_or("");
    for (const auto& [rank, size] : kRanks) {
        const std::optional<std::uint32_t> value = number(environment(rank));
        if (!value)
            continue;
        settings.rank = *value;
        // The variable may be missing or hold the machine's number of ranks; there are at least
        // enough for this rank.
        settings.world_size = std::max(number(environment(size)).value_or(0), *value + 1);
        break;
    }
    return settings;
}

std::string file_name(const Settings& settings) {
    return "rank" + std::to_string(settings.rank) + (settings.counters ? ".counters" : "") +
           std::string(kSuffix);
}

}  // namespace switchfold::capture
