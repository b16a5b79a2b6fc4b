// SPDX-License-Identifier: Apache-2.0
#include "app/described_system.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/config/shipped_gpus.h"
#include "validation/harness/root.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

/// How the GPUs of a machine are joined.
enum class Fabric { kSwitched, kMesh, kDirect, kPcie };

std::string_view words_of(Fabric fabric) {
    switch (fabric) {
    case Fabric::kSwitched:
        return "switches";
    case Fabric::kMesh:
        return "equal links between all pairs";
    case Fabric::kDirect:
        return "links between some pairs";
    case Fabric::kPcie:
        return "PCIe alone";
    }
    return "?";
}

/// Lanes of each GPU to every switch, in the switches' order; empty if GPUs differ.
std::vector<std::uint32_t> lanes_to_switch(const DescribedMachine& machine) {
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> of_gpu;
    for (const DescribedLink& link : machine.to_switches)
        of_gpu[link.gpu][link.to] += link.lanes;
    std::vector<std::uint32_t> lanes;
    if (of_gpu.size() != machine.gpus.size())
        return {};
    for (const auto& [gpu, to] : of_gpu) {
        std::vector<std::uint32_t> own;
        for (const auto& [node, count] : to)
            own.push_back(count);
        if (!lanes.empty() && own != lanes)
            return {};
        lanes = own;
    }
    return lanes;
}

/// The lanes of every pair, if they are equal.
std::optional<std::uint32_t> lanes_of_pairs(const DescribedMachine& machine) {
    const std::size_t n = machine.gpus.size();
    if (n < 2 || machine.to_gpus.size() != n * (n - 1))
        return {};
    const std::uint32_t first = machine.to_gpus.front().lanes;
    return std::ranges::all_of(
               machine.to_gpus, [&](const DescribedLink& link) { return link.lanes == first; })
               ? std::optional(first)
               : std::nullopt;
}

struct Base {
    std::filesystem::path file;
    SystemParams system;
};

bool is_of(const TopologyParams& topology, Fabric fabric) {
    switch (fabric) {
    case Fabric::kSwitched:
        return std::holds_alternative<SwitchedTopology>(topology);
    case Fabric::kMesh:
        return std::holds_alternative<FullMeshTopology>(topology);
    case Fabric::kDirect:
        return std::holds_alternative<DirectTopology>(topology) ||
               (std::holds_alternative<PcieTopology>(topology) &&
                !std::get<PcieTopology>(topology).bridges.empty());
    case Fabric::kPcie:
        return std::holds_alternative<PcieTopology>(topology) &&
               std::get<PcieTopology>(topology).bridges.empty();
    }
    return false;
}

std::vector<Base> shipped_systems() {
    std::vector<Base> found;
    std::vector<std::filesystem::path> files;
    const auto folder = validation::find_root({}) / "configs" / "systems";
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".json")
            files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& file : files)
        if (SystemParams system = load_any_system(file, {}); system.has_gpus())
            found.push_back({file, std::move(system)});
    return found;
}

std::string link_words(const DescribedMachine& machine) {
    if (machine.nics.empty())
        return "none told";
    std::map<double, std::uint32_t> by_rate;
    for (const double rate : machine.nics)
        ++by_rate[rate];
    std::string words;
    for (const auto& [rate, count] : by_rate)
        words += fmt::format(
            "{}{} of {}", words.empty() ? "" : ", ", count,
            rate == 0 ? std::string("unknown rate") : fmt::format("{:g} Gb/s", rate / 1e9));
    return words;
}

}  // namespace

std::string described_system(const DescribedMachine& machine, const SystemChoice& choice) {
    std::string name = choice.gpu;
    for (const std::string& told : machine.gpus)
        if (name.empty())
            name = told;
    if (name.empty())
        throw ConfigError(
            "--gpu", "",
            fmt::format(
                "is missing, and {} does not name the GPUs; expected their name as torch "
                "or nvidia-smi prints it, or --lspci",
                choice.from));
    for (const std::string& told : machine.gpus)
        if (!told.empty() && choice.gpu.empty() && told != name)
            throw ConfigError(
                choice.from, "",
                fmt::format(
                    "has GPUs of two kinds, {} and {}; expected one (docs/plans.md says how "
                    "a system of several is written)",
                    name, told));
    const auto root = validation::find_root({});
    const auto gpu = best_description(shipped_gpus(root / "configs/x"), {name, 0, 0});
    if (!gpu)
        throw ConfigError(
            choice.gpu.empty() ? choice.from : "--gpu", "",
            fmt::format(
                "names {}, which is none of configs/systems/gpus; expected one of these (--gpu), "
                "or a description of your own (docs/systems.md)",
                name));
    const std::vector<Base> systems = shipped_systems();
    const std::optional<std::uint32_t> mesh = lanes_of_pairs(machine);
    // nvidia-smi tells the links of a GPU, for every other, whether switches are between or not.
    const auto has = [&](Fabric fabric) {
        return std::ranges::any_of(systems, [&](const Base& base) {
            return base.system.gpu->name == gpu->name && is_of(*base.system.topology, fabric);
        });
    };
    Fabric fabric = Fabric::kPcie;
    if (!machine.to_switches.empty())
        fabric = Fabric::kSwitched;
    else if (mesh)
        fabric = has(Fabric::kSwitched) ? Fabric::kSwitched
                 : has(Fabric::kMesh)   ? Fabric::kMesh
                                        : Fabric::kDirect;
    else if (!machine.to_gpus.empty())
        fabric = Fabric::kDirect;
    const Base* base = nullptr;
    for (const Base& one : systems) {
        if (one.system.gpu->name != gpu->name || !is_of(*one.system.topology, fabric))
            continue;
        const auto off = [&](const Base& b) {
            const auto count = static_cast<std::int64_t>(build_topology(b.system.topology).gpus());
            return std::abs(count - static_cast<std::int64_t>(machine.gpus.size()));
        };
        if (base == nullptr || off(one) < off(*base))
            base = &one;
    }
    if (base == nullptr)
        throw ConfigError(
            choice.from, "",
            fmt::format(
                "is of {} joined by {}, and no shipped system is; expected a system written by "
                "hand over the nearest one (switchfold new system --system NAME)",
                gpu->name, words_of(fabric)));
    std::vector<std::string> lines;
    const auto count = machine.gpus.size();
    lines.push_back(fmt::format("\"gpus\": {}", count));
    std::vector<std::string> notes = machine.notes;
    if (fabric == Fabric::kSwitched) {
        std::vector<std::uint32_t> lanes = lanes_to_switch(machine);
        const auto& own = std::get<SwitchedTopology>(*base->system.topology).lanes_to_switch;
        std::uint32_t all = 0;
        std::uint32_t of_base = 0;
        for (const std::uint32_t l : lanes)
            all += l;
        if (mesh && machine.to_switches.empty())
            all = *mesh;
        for (const std::uint32_t l : own)
            of_base += l;
        if (machine.switches > 0 && !lanes.empty())
            lines.push_back(fmt::format("\"lanes_to_switch\": {}", Json(lanes).dump()));
        else if (all == of_base)
            notes.push_back(fmt::format(
                "how {} links are shared among switches is {}'s: {} does not say", all,
                base->file.stem().string(), choice.from));
        else
            throw ConfigError(
                choice.from, "",
                fmt::format(
                    "lists {} links of a GPU to switches, {} has {}, and it does not say how many "
                    "switches share them; expected a topology of NCCL that names them",
                    all, base->file.stem().string(), of_base));
    } else if (fabric == Fabric::kMesh) {
        lines.push_back(fmt::format("\"lanes\": {}", *mesh));
    } else {
        std::vector<Json> edges;
        for (const DescribedLink& link : machine.to_gpus)
            if (link.gpu < link.to)
                edges.push_back({{"a", link.gpu}, {"b", link.to}, {"lanes", link.lanes}});
        if (fabric == Fabric::kDirect)
            lines.push_back(fmt::format(
                "\"{}\": {}",
                std::holds_alternative<DirectTopology>(*base->system.topology) ? "edges"
                                                                               : "bridges",
                Json(edges).dump()));
        if (fabric == Fabric::kPcie && machine.hosts > 1)
            lines.push_back(fmt::format("\"roots\": {}", machine.hosts));
    }
    std::string text = "{\n";
    text += fmt::format(
        "  \"$schema\": {},\n", Json((choice.schemas / "system.schema.json").string()).dump());
    text += fmt::format(
        "  // {} of {}, by {}. Rates, latencies and what is not said here are {}'s: no\n"
        "  // description tells them (docs/systems.md says how to measure them).\n",
        count, gpu->name, choice.from, base->file.stem().string());
    text += fmt::format(
        "  // Network interfaces: {}. They count in a cluster alone.\n", link_words(machine));
    for (const std::string& note : notes)
        text += fmt::format("  // {}\n", note);
    auto base_path = std::filesystem::weakly_canonical(base->file)
                         .lexically_relative(std::filesystem::weakly_canonical(choice.folder));
    if (base_path.empty() || std::ranges::count(base_path, "..") > 4)
        base_path = std::filesystem::weakly_canonical(base->file);
    text += fmt::format("  \"$base\": {},\n", Json(base_path.string()).dump());
    text += fmt::format(
        "  \"name\": {},\n",
        Json(choice.name.empty() ? std::string("my_machine") : choice.name).dump());
    text += "  \"topology\": {\n";
    std::string sources;
    for (const std::string& line : lines) {
        text += "    " + line + ",\n";
        const std::string key = line.substr(0, line.find(':'));
        sources +=
            fmt::format("{}{}: {}", sources.empty() ? "" : ", ", key, Json(choice.from).dump());
    }
    text += fmt::format("    \"$source\": {{{}}}\n  }}\n}}\n", sources);
    return text;
}

}  // namespace switchfold
