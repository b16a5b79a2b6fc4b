// SPDX-License-Identifier: Apache-2.0
#include "app/described_system.h"

#include "app/described_fabric.h"
#include "core/error.h"
#include "core/json.h"
#include "core/named_path.h"
#include "sim/config/load.h"
#include "sim/config/shipped_gpus.h"
#include "validation/harness/root.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

/// A kind of the machine's GPUs, and the ranks that are of it.
struct TakenGpu {
    GpuParams gpu;
    std::vector<std::uint32_t> ranks;
};

/// The kinds of its GPUs, the most frequent first.
std::vector<TakenGpu> gpus_of_machine(
    const DescribedMachine& machine, const SystemChoice& choice,
    const std::filesystem::path& root) {
    std::string first = choice.gpu;
    for (const std::string& told : machine.gpus)
        if (first.empty())
            first = told;
    if (first.empty())
        throw ConfigError(
            "--gpu", "",
            fmt::format(
                "is missing, and {} does not name the GPUs; expected their name as torch "
                "or nvidia-smi prints it, or --lspci",
                choice.from));
    const std::vector<GpuParams> known = shipped_gpus(root / "configs/x");
    std::vector<TakenGpu> kinds;
    for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
        const std::string& told = machine.gpus[i];
        const std::string& name = choice.gpu.empty() && !told.empty() ? told : first;
        const auto gpu = best_description(known, {name, 0, 0});
        if (!gpu)
            throw ConfigError(
                choice.gpu.empty() ? choice.from : "--gpu", "",
                fmt::format(
                    "names {}, which configs/systems/gpus does not have; expected one of those "
                    "(--gpu), or a description of your own (docs/systems.md)",
                    name));
        const auto kind = std::ranges::find(
            kinds, gpu->name, [](const TakenGpu& taken) { return taken.gpu.name; });
        if (kind == kinds.end())
            kinds.push_back({*gpu, {i}});
        else
            kind->ranks.push_back(i);
    }
    std::ranges::stable_sort(
        kinds, std::greater<>(), [](const TakenGpu& taken) { return taken.ranks.size(); });
    return kinds;
}

/// The shipped file that describes a GPU.
std::filesystem::path file_of_gpu(const std::string& name, const std::filesystem::path& root) {
    for (const auto& entry :
         std::filesystem::directory_iterator(root / "configs" / "systems" / "gpus"))
        if (entry.path().extension() == ".json") {
            const Json json = load_json(entry.path());
            if (json.value("name", std::string()) == name)
                return entry.path();
        }
    throw ConfigError(name, "", "has no file in configs/systems/gpus; expected one");
}

/// "NVIDIA A100, 2 of NVIDIA T4"
std::string names_of_kinds(const std::vector<TakenGpu>& kinds) {
    std::string words = kinds.front().gpu.name;
    for (std::size_t k = 1; k < kinds.size(); ++k)
        words += fmt::format(", {} of {}", kinds[k].ranks.size(), kinds[k].gpu.name);
    return words;
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

/// A GPU's name without its memory: "NVIDIA A100 SXM4" of 40 GB and of 80 GB.
std::string_view without_memory(std::string_view name) {
    if (!name.ends_with(" GB"))
        return name;
    name.remove_suffix(3);
    return name.substr(0, name.rfind(' '));
}

/// Those with a GPU that differs in its memory at most.
std::vector<const Base*> systems_with(const std::vector<Base>& systems, const std::string& gpu) {
    std::vector<const Base*> found;
    for (const Base& base : systems)
        if (without_memory(base.system.gpu->name) == without_memory(gpu))
            found.push_back(&base);
    return found;
}

/// The one so joined with the same GPU, if there is one, whose number of GPUs is nearest.
const Base* nearest(
    const std::vector<const Base*>& systems, const GpuParams& gpu, Fabric fabric,
    std::size_t gpus) {
    const auto off = [&](const Base& base) {
        const auto count = static_cast<std::int64_t>(build_topology(base.system.topology).gpus());
        const bool bridged = fabric == Fabric::kPcie && base.is_of(Fabric::kDirect);
        return std::tuple(
            base.system.gpu->name != gpu.name, bridged,
            std::abs(count - static_cast<std::int64_t>(gpus)));
    };
    const Base* best = nullptr;
    for (const Base* base : systems)
        if (base->is_of(fabric) && (best == nullptr || off(*base) < off(*best)))
            best = base;
    return best;
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
    const auto root = validation::find_root({});
    const std::vector<TakenGpu> kinds = gpus_of_machine(machine, choice, root);
    const GpuParams* const gpu = &kinds.front().gpu;
    const std::vector<Base> systems = shipped_systems();
    const std::vector<const Base*> alike = systems_with(systems, gpu->name);
    const Fabric fabric = fabric_of(machine, alike);
    const Base* const base = nearest(alike, *gpu, fabric, machine.gpus.size());
    if (base == nullptr)
        throw ConfigError(
            choice.from, "",
            fmt::format(
                "has {} joined by {}, and no shipped system is like that; expected a system "
                "written by hand over the nearest one (switchfold new system --system NAME)",
                gpu->name, words_of(fabric)));
    std::vector<std::string> lines;
    const auto count = machine.gpus.size();
    std::vector<std::string> notes = machine.notes;
    const bool on_boards = std::holds_alternative<BoardsTopology>(*base->system.topology);
    if (!on_boards)
        lines.push_back(fmt::format("\"gpus\": {}", count));
    std::ranges::move(
        links_told(machine, fabric, *base, choice.from, notes), std::back_inserter(lines));
    std::string text = "{\n";
    text += fmt::format(
        "  \"$schema\": {},\n", Json((choice.schemas / "system.schema.json").string()).dump());
    text += fmt::format(
        "  // {} of {}, by {}. Rates, latencies and what is not said here are {}'s: no\n"
        "  // description tells them (docs/systems.md says how to measure them).\n",
        kinds.front().ranks.size(), names_of_kinds(kinds), choice.from, base->file.stem().string());
    text += fmt::format(
        "  // Network interfaces: {}. They count in a cluster alone.\n", link_words(machine));
    for (const std::string& note : notes)
        text += fmt::format("  // {}\n", note);
    text += fmt::format(
        "  \"$base\": {},\n", Json(path_to_write(choice.folder, base->file).string()).dump());
    text += fmt::format(
        "  \"name\": {},\n",
        Json(choice.name.empty() ? std::string("my_machine") : choice.name).dump());
    if (base->system.gpu->name != gpu->name)
        text += fmt::format(
            "  \"gpu\": {},\n",
            Json(path_to_write(choice.folder, file_of_gpu(gpu->name, root)).string()).dump());
    if (kinds.size() > 1) {
        OrderedJson others = OrderedJson::array();
        for (std::size_t k = 1; k < kinds.size(); ++k)
            others.push_back(
                {{"ranks", kinds[k].ranks},
                 {"gpu",
                  path_to_write(choice.folder, file_of_gpu(kinds[k].gpu.name, root)).string()}});
        text += fmt::format("  \"gpus\": {},\n", others.dump());
    }
    text += "  \"topology\": {\n";
    if (choice.whole)
        text += fmt::format(
            "    \"$base\": {},\n",
            Json(path_to_write(choice.folder, base->file).string() + "#/topology").dump());
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

namespace {

/// Why a machine is unlike the first; empty: it is like it.
std::string unlike(const DescribedMachine& first, const DescribedMachine& other) {
    const auto lanes = [](const std::vector<DescribedLink>& links) {
        std::uint64_t all = 0;
        for (const DescribedLink& link : links)
            all += link.lanes;
        return all;
    };
    const auto sorted = [](auto list) {
        std::ranges::sort(list);
        return list;
    };
    if (first.gpus.size() != other.gpus.size())
        return fmt::format("has {} GPUs, and the first {}", other.gpus.size(), first.gpus.size());
    if (sorted(first.gpus) != sorted(other.gpus))
        return fmt::format(
            "has {}, and the first {}", fmt::join(sorted(other.gpus), ", "),
            fmt::join(sorted(first.gpus), ", "));
    if (lanes(first.to_switches) != lanes(other.to_switches) || first.switches != other.switches)
        return fmt::format(
            "has {} links to {} switches, and the first {} to {}", lanes(other.to_switches),
            other.switches, lanes(first.to_switches), first.switches);
    if (lanes(first.to_gpus) != lanes(other.to_gpus))
        return fmt::format(
            "has {} links between GPUs, and the first {}", lanes(other.to_gpus),
            lanes(first.to_gpus));
    if (sorted(first.nics) != sorted(other.nics))
        return fmt::format(
            "has the network interfaces {}, and the first {}", link_words(other),
            link_words(first));
    return "";
}

Bandwidth rate_of(const ClusterTopology& cluster) {
    return std::visit(
        [](const auto& network) { return network.link.lane_bandwidth; }, cluster.network);
}

}  // namespace

std::string described_cluster(
    const std::vector<DescribedMachine>& machines, const ClusterChoice& cluster,
    const SystemChoice& choice) {
    const DescribedMachine& first = machines.front();
    for (std::size_t m = 1; m < machines.size(); ++m)
        if (const std::string why = unlike(first, machines[m]); !why.empty())
            throw ConfigError(
                cluster.files[m].string(), "/",
                fmt::format(
                    "{} ({}); expected equal machines: unequal ones are written as a graph of "
                    "nodes and links (docs/systems.md#several-machines-cluster)",
                    why, cluster.files.front().string()));
    const auto root = validation::find_root({});
    const std::string gpu = gpus_of_machine(first, choice, root).front().gpu.name;
    double told = 0;  // bytes a second of an interface
    for (const double rate : first.nics)
        told = std::max(told, rate / 8);
    const std::vector<Base> systems = shipped_systems();
    const Base* base = nullptr;
    const auto off = [&](const Base& of) {
        const auto rate =
            static_cast<double>(rate_of(std::get<ClusterTopology>(*of.system.topology)).count());
        return told == 0 ? 0 : std::abs(std::log(rate / told));
    };
    for (const Base& of : systems)
        if (of.system.gpu->name == gpu &&
            std::holds_alternative<ClusterTopology>(*of.system.topology) &&
            (base == nullptr || off(of) < off(*base)))
            base = &of;
    if (base == nullptr)
        throw ConfigError(
            cluster.files.front().string(), "/",
            fmt::format(
                "has {}, of which no shipped system has several machines; expected one file, and "
                "a network written by hand (docs/systems.md#several-machines-cluster)",
                gpu));
    OrderedJson topology{
        {"nodes", machines.size()}, {"node", cluster.machine.filename().string() + "#/topology"}};
    OrderedJson sources{{"nodes", choice.from}, {"node", choice.from}};
    if (!first.nics.empty()) {
        topology["nics"] = {{"count", first.nics.size()}, {"$source", {{"count", choice.from}}}};
        // No GPU's PCIe switch is without an interface.
        if (first.nics.size() < first.gpus.size())
            topology["nics"]["pcie_switches"] = first.nics.size();
        constexpr double kNear = 0.02;
        if (told > 0 && off(*base) > kNear)
            topology["network"] = {
                {"link",
                 {{"lane_bandwidth", fmt::format("{:.0f} MB/s", told / 1e6)},
                  {"$source", {{"lane_bandwidth", choice.from}}}}}};
    }
    topology["$source"] = sources;
    const OrderedJson system{
        {"$schema", (choice.schemas / "system.schema.json").string()},
        {"$base", path_to_write(choice.folder, base->file).string()},
        {"name", choice.name.empty() ? std::string("my_cluster") : choice.name},
        {"topology", topology}};
    return fmt::format(
               "// {} machines like {}, by {}. The network is {}'s: no description tells it.\n",
               machines.size(), cluster.machine.filename().string(), choice.from,
               base->file.stem().string()) +
           system.dump(2) + "\n";
}

}  // namespace switchfold
