// SPDX-License-Identifier: Apache-2.0
#include "sim/nccl_choices.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "core/params_reader.h"
#include "models/collectives/library.h"
#include "sim/config/load.h"
#include "sim/config/parameter_units.h"
#include "sim/machine/system_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

namespace switchfold {

namespace {

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> kFunctionWords{
    {{"AllReduce", CollectiveKind::kAllReduce},
     {"AllGather", CollectiveKind::kAllGather},
     {"ReduceScatter", CollectiveKind::kReduceScatter},
     {"Broadcast", CollectiveKind::kBroadcast},
     {"Reduce", CollectiveKind::kReduce}}};
// As NCCL numbers them (nccl_common.h).
constexpr std::array<std::string_view, 7> kAlgorithmNumbers{
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> kProtocolNumbers{"LL", "LL128", "SIMPLE"};

std::string_view nccl_algorithm(Algorithm algorithm) {
    switch (algorithm) {
    case Algorithm::kTree:
        return "TREE";
    case Algorithm::kInSwitch:
    case Algorithm::kInSwitchRing:
        return "NVLS";
    case Algorithm::kInSwitchTree:
        return "NVLS_TREE";
    case Algorithm::kCollnet:
        return "COLLNET_DIRECT";
    default:
        return "RING";
    }
}

std::string_view nccl_protocol(const CollectiveConfig& choice) {
    if (reduces_in_switch(choice.algorithm))
        return "SIMPLE";
    switch (choice.protocol) {
    case Protocol::kLl:
        return "LL";
    case Protocol::kLl128:
        return "LL128";
    default:
        return "SIMPLE";
    }
}

std::optional<std::uint64_t> number_at(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// The word behind `mark`.
std::string_view word_behind(std::string_view line, std::string_view mark) {
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos)
        return {};
    line.remove_prefix(at + mark.size());
    return line.substr(0, line.find_first_of(" \t\r,"));
}

template <std::size_t N>
std::string
word_or_number(std::string_view word, const std::array<std::string_view, N>& by_number) {
    const auto number = number_at(word);
    return std::string(number && *number < N ? by_number[*number] : word);
}

/// The collective that a line says was called: "AllReduce: opCount 0 sendbuff ...".
std::optional<CollectiveKind> call_in(std::string_view row) {
    if (row.find(": opCount ") != std::string_view::npos)
        for (const auto& [function, kind] : kFunctionWords)
            if (row.find(fmt::format(" {}: opCount ", function)) != std::string_view::npos)
                return kind;
    return {};
}

/// What a line of tuning is about: "AllReduce: 1024 Bytes -> ...", or "NCCL INFO 1024 Bytes -> ..."
/// of older versions.
std::optional<std::pair<CollectiveKind, std::uint64_t>>
chosen_for(std::string_view row, std::optional<CollectiveKind> last, bool& unnamed) {
    for (const auto& [function, kind] : kFunctionWords)
        if (const auto bytes = number_at(word_behind(row, fmt::format(" {}: ", function))))
            return std::pair(kind, *bytes);
    const auto bytes = number_at(word_behind(row, "NCCL INFO "));
    if (!bytes)
        return {};
    unnamed = unnamed || !last;
    return std::pair(last.value_or(CollectiveKind::kAllReduce), *bytes);
}

std::string log_line(const NcclChosen& chosen) {
    return fmt::format(
        "NCCL INFO {}: {} Bytes -> Algo {} proto {} channel{{Lo..Hi}}={{0..{}}}",
        nccl_function(chosen.kind), chosen.bytes, chosen.algorithm, chosen.protocol,
        chosen.channels - 1);
}

}  // namespace

std::string_view nccl_function(CollectiveKind kind) {
    const auto* const at =
        std::ranges::find(kFunctionWords, kind, [](const auto& pair) { return pair.second; });
    return at == kFunctionWords.end() ? std::string_view() : at->first;
}

NcclSetting nccl_setting(
    const std::filesystem::path& system, const std::map<std::string, std::string>& variables,
    const std::filesystem::path& folder, std::vector<Override> overrides) {
    Json written = Json::object();
    for (const auto& [name, value] : variables)
        written[name] = value;
    std::vector<std::string> notes;
    const ScenarioParams scenario = read_params<ScenarioParams>(
        {{"name", "environment"}, {"nccl_environment", written}}, folder / "environment", {},
        &notes);
    for (const auto& [pointer, value] : NcclEnvironment::values_of(written))
        overrides.push_back(
            {pointer.substr(std::string_view("/system").size()), Json::parse(value)});
    return {load_system(system, overrides), scenario.policies(), std::move(notes)};
}

NcclChosen nccl_choice(
    const NcclSetting& setting, const std::vector<std::uint32_t>& ranks, CollectiveKind kind,
    std::uint64_t bytes) {
    const CollectiveParams& params = *setting.system.collectives;
    const Topology topology = build_topology(setting.system.topology);
    const CallGroup group(topology, ranks, params.transfer_unit);
    const CollectiveCall call{kind, Bytes(bytes), Datatype::kFloat32};
    const CollectivePolicy policy = setting.policies.of(kind);
    CollectiveConfig choice = library_for(kind, policy).choose(params, policy, call, group);
    if (setting.policies.most_blocks != 0)
        choice.channels = std::min(choice.channels, setting.policies.most_blocks);
    return {
        kind, bytes, std::string(nccl_algorithm(choice.algorithm)),
        std::string(nccl_protocol(choice)), choice.channels};
}

std::string nccl_log_of(const NcclSetting& setting) {
    const std::uint32_t gpus = gpus_of(setting.system);
    if (gpus < 2)
        return "";
    constexpr std::uint64_t kFrom = 1024;
    constexpr std::uint64_t kTo = 4ULL << 30U;
    constexpr std::uint64_t kTimes = 4;
    std::string out;
    for (const std::string& note : setting.notes)
        out += fmt::format("\nnote: {}\n", note);
    out += "\nas NCCL's log would say it (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=TUNING):\n";
    for (const auto& [function, kind] : kFunctionWords)
        for (std::uint64_t bytes = kFrom; bytes <= kTo; bytes *= kTimes)
            out += fmt::format(
                "  {}\n", log_line(nccl_choice(setting, first_ranks(gpus), kind, bytes)));
    return out;
}

bool is_nccl_log(std::string_view beginning) {
    return beginning.find("NCCL INFO") != std::string_view::npos ||
           beginning.find("NCCL version") != std::string_view::npos;
}

NcclLog read_nccl_log(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in)
        throw ConfigError(
            file.string(), "/", "cannot be read; expected NCCL's log (NCCL_DEBUG=INFO)");
    NcclLog log;
    std::set<NcclChosen> told;
    std::optional<CollectiveKind> last;
    for (std::string row; std::getline(in, row);) {
        if (log.version.empty())
            log.version = word_behind(row, "NCCL version ");
        for (const std::string_view mark : {"nranks ", "nRanks ", "[nranks="})
            if (const auto ranks = number_at(word_behind(row, mark)); ranks && *ranks < (1U << 20U))
                log.ranks = std::max(log.ranks, static_cast<std::uint32_t>(*ranks));
        if (const auto nodes = number_at(word_behind(row, "nNodes "));
            nodes && *nodes < (1U << 20U))
            log.nodes = std::max(log.nodes, static_cast<std::uint32_t>(*nodes));
        constexpr std::string_view kSet = " set by environment to ";
        if (const std::size_t at = row.find(kSet); at != std::string::npos) {
            const std::size_t begin = row.rfind(' ', at - 1) + 1;
            const std::string name = row.substr(begin, at - begin);
            std::string value(word_behind(row, kSet));
            while (!value.empty() && value.back() == '.')
                value.pop_back();
            if (name.starts_with("NCCL_") && !value.empty())
                log.environment[name] = value;
        }
        if (const auto called = call_in(row))
            last = called;
        if (row.find(" Bytes -> Algo ") == std::string::npos)
            continue;
        if (const auto call = chosen_for(row, last, log.unnamed)) {
            const auto& [kind, bytes] = *call;
            NcclChosen chosen;
            chosen.kind = kind;
            chosen.bytes = bytes;
            chosen.algorithm = word_or_number(word_behind(row, "Algo "), kAlgorithmNumbers);
            chosen.protocol = word_or_number(word_behind(row, "proto "), kProtocolNumbers);
            constexpr std::string_view kChannels = "channel{Lo..Hi}={";
            if (const std::size_t at = row.find(kChannels); at != std::string::npos) {
                const std::string_view range = std::string_view(row).substr(at + kChannels.size());
                const auto low = number_at(range);
                const std::size_t dots = range.find("..");
                const auto high = dots == std::string_view::npos
                                      ? std::nullopt
                                      : number_at(range.substr(dots + 2));
                if (low && high && *high >= *low && *high < 1024)
                    chosen.channels = static_cast<std::uint32_t>(*high - *low + 1);
            }
            if (told.insert(chosen).second)
                log.choices.push_back(std::move(chosen));
        }
    }
    std::ranges::stable_sort(
        log.choices, {}, [](const NcclChosen& c) { return std::pair(c.kind, c.bytes); });
    return log;
}

std::string describe_nccl_log(const NcclLog& log) {
    std::string out = fmt::format(
        "NCCL's log: version {}, {} ranks on {} machines\n",
        log.version.empty() ? "unknown" : log.version,
        log.ranks == 0 ? "an unknown number of" : std::to_string(log.ranks),
        log.nodes == 0 ? "an unknown number of" : std::to_string(log.nodes));
    for (const auto& [name, value] : log.environment)
        out += fmt::format("  {}={}\n", name, value);
    if (log.unnamed)
        out += "  lines that name no collective, as older NCCL writes them, are taken for "
               "all-reduces\n";
    const auto same_call = [](const NcclChosen& a, const NcclChosen& b) {
        return a.kind == b.kind && a.bytes == b.bytes;
    };
    const auto again = std::ranges::adjacent_find(log.choices, same_call);
    if (again != log.choices.end())
        out += fmt::format(
            "  {} of {} bytes and maybe others ran in several ways, each a line below: a log of "
            "several communicators does not say which a line is of, and ours is of {} ranks\n",
            nccl_function(again->kind), again->bytes,
            log.ranks == 0 ? "all" : std::to_string(log.ranks));
    if (log.choices.empty())
        out += "  no line says what a collective ran as; expected some, with "
               "NCCL_DEBUG_SUBSYS=INIT,ENV,TUNING\n";
    return out;
}

std::string compare_nccl_log(const NcclLog& log, const std::filesystem::path& system) {
    // What does not change what is simulated is left out, and said.
    std::map<std::string, std::string> known;
    std::string out = describe_nccl_log(log);
    for (const auto& [name, value] : log.environment)
        try {
            static_cast<void>(nccl_setting(system, {{name, value}}, "."));
            known[name] = value;
        } catch (const ConfigError& error) {
            out += fmt::format("  {}: {}\n", name, error.problems().front().message);
        }
    const NcclSetting setting = nccl_setting(system, known, ".");
    for (const std::string& note : setting.notes)
        out += fmt::format("  note: {}\n", note);
    const std::uint32_t gpus = gpus_of(setting.system);
    const std::uint32_t ranks = log.ranks == 0 ? gpus : log.ranks;
    if (ranks > gpus)
        throw ConfigError(
            "--system", "",
            fmt::format(
                "is {} with {} GPUs, but the log has {} ranks; expected a system with at least "
                "as many GPUs",
                setting.system.name, gpus, ranks));
    out += fmt::format(
        "\n{:<14} {:>12}  {:<28} {:<28}\n", "", "bytes", "the log", setting.system.name);
    std::size_t others = 0;
    for (const NcclChosen& theirs : log.choices) {
        const NcclChosen ours = nccl_choice(setting, first_ranks(ranks), theirs.kind, theirs.bytes);
        const bool way = ours.algorithm != theirs.algorithm || ours.protocol != theirs.protocol;
        const bool channels = theirs.channels != 0 && theirs.channels != ours.channels;
        others += way ? 1 : 0;
        const auto words = [](const NcclChosen& c) {
            return fmt::format(
                "{} {}{}", c.algorithm, c.protocol,
                c.channels == 0 ? "" : fmt::format(", {} channels", c.channels));
        };
        out += fmt::format(
            "{:<14} {:>12}  {:<28} {:<28} {}\n", nccl_function(theirs.kind), theirs.bytes,
            words(theirs), words(ours),
            way        ? "other"
            : channels ? "other channels"
                       : "");
    }
    out += fmt::format("{} of {} choices are other\n", others, log.choices.size());
    return out;
}

}  // namespace switchfold
