// SPDX-License-Identifier: Apache-2.0
#include "validation/machines/machines.h"

#include "sim/config/load.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/system_queries.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace switchfold::validation {

namespace {

constexpr const char* kNodes = "/topology/nodes";
constexpr const char* kGpusPointer = "/topology/node/gpus";
constexpr const char* kNics = "/topology/nics/count";
constexpr const char* kPcieSwitches = "/topology/nics/pcie_switches";

/// Whether there is a number at the pointer: clusters count machines, graphs list their nodes.
bool has(const Json& json, const char* pointer) {
    const Json::json_pointer at(pointer);
    return json.contains(at) && json.at(at).is_number();
}

std::uint32_t number_at(const Json& json, const char* pointer, std::uint32_t otherwise) {
    return has(json, pointer) ? json.at(Json::json_pointer(pointer)).get<std::uint32_t>()
                              : otherwise;
}

std::string spaced(std::string text) {
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

KnownMachine known_machine(const std::filesystem::path& file, const SystemParams& system) {
    const Json json = system_json(system);  // with the content of referenced files
    KnownMachine machine;
    machine.file = file;
    machine.name = system.name;
    machine.gpus = gpus_of(system);
    machine.several_nodes = has(json, kNodes);
    machine.nodes = number_at(json, kNodes, 1);
    machine.nics = number_at(json, kNics, 0);
    machine.pcie_switches = number_at(json, kPcieSwitches, 0);
    for (const std::string& wording : system.measured_as)
        machine.words.push_back(machine_words(wording));
    // Rows are from machines with equal GPUs: other systems get no words, which matches no row.
    const bool equal = RankGpus(system).used(machine.gpus).size() == 1;
    if (machine.words.empty())
        machine.words.push_back(
            equal ? machine_words(system.gpu->name + " " + spaced(system.name)) : MachineWords());
    return machine;
}

void collect(const Json& json, bool below_source, std::vector<std::string>& out) {
    if (json.is_string()) {
        const auto& text = json.get_ref<const std::string&>();
        if (below_source && text.find("fitted") != std::string::npos)
            out.push_back(text);
    } else if (json.is_structured()) {
        for (const auto& [key, value] : json.items())
            collect(value, below_source || (json.is_object() && key == "$source"), out);
    }
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/// Nodes used on a machine: as stated by the table, otherwise the fewest that hold the GPUs.
std::uint32_t
nodes_of(const WantedMachine& wanted, const MachineWords& words, const KnownMachine& known) {
    // Trays of a rack that form one NVLink domain count as one machine, however many hosts they
    // have.
    if (words.domain && wanted.gpus <= *words.domain)
        return 1;
    if (wanted.nodes)
        return *wanted.nodes;
    if (words.nodes)
        return *words.nodes;
    std::uint32_t node = known.gpus / std::max(1U, known.nodes);
    if (words.domain)
        node = std::min(node, *words.domain);
    return (wanted.gpus + node - 1) / std::max(1U, node);
}

struct Candidate {
    const KnownMachine* machine = nullptr;
    int score = -1;
    std::uint32_t nodes = 1;
};

/// Whether a machine of several nodes has the NICs that the table states: 1, -1, or 0 if it states
/// none. A number may be that of all nodes, so it does not exclude a machine.
int agreement_of_nics(
    const MachineWords& table, const MachineWords& system, const KnownMachine& known) {
    if (known.nics == 0)
        return 0;
    if (table.nics)
        return *table.nics == known.nics ? 1 : -1;
    if (table.node_Gbps && !system.node_Gbps && system.network_Gbps)
        return *table.node_Gbps == known.nics * *system.network_Gbps ? 1 : -1;
    return 0;
}

constexpr int kNicsWeigh = 3;

/// Why a matching machine still cannot run the row; empty if it can.
std::string too_small(const KnownMachine& known, const WantedMachine& wanted, std::uint32_t nodes) {
    if (wanted.gpus % nodes != 0)
        return fmt::format("{} GPUs do not spread evenly over {} nodes", wanted.gpus, nodes);
    const std::uint32_t node = known.gpus / known.nodes;
    if (nodes > 1 && !known.several_nodes)
        return "it is one machine";
    if (wanted.gpus / nodes > node)
        return fmt::format("it has {} GPUs{}", node, known.several_nodes ? " a node" : "");
    return {};
}

/// The system in the size of the measured machine; none if its switches or links do not allow that.
MachineMatch matched(const KnownMachine& known, const WantedMachine& wanted, std::uint32_t nodes) {
    MatchedMachine machine;
    machine.file = known.file;
    machine.name = known.name;
    machine.nodes = nodes;
    const auto set = [&](const char* pointer, std::uint32_t value) {
        machine.overrides.push_back({pointer, value});
    };
    if (known.several_nodes) {
        set(kNodes, nodes);
        const std::uint32_t each = wanted.gpus / nodes;
        const std::uint32_t node = known.gpus / known.nodes;
        if (nodes > 1 && each != node) {
            set(kGpusPointer, each);
            // NICs belong to GPUs: half a node has half of the NICs.
            const auto scale = [&](const char* pointer, std::uint32_t count) {
                if (count > 0 && count * each % node == 0)
                    set(pointer, count * each / node);
            };
            scale(kNics, known.nics);
            scale(kPcieSwitches, known.pcie_switches);
        }
    }
    try {
        machine.system = load_system(known.file, machine.overrides);
    } catch (const ConfigError& error) {
        return {
            std::nullopt, fmt::format("{} of {} machines: {}", known.name, nodes, error.what())};
    }
    return {std::move(machine), ""};
}

}  // namespace

SystemParams without_reduction(const MatchedMachine& machine) {
    std::vector<Override> overrides = machine.overrides;
    const Json flat = Json(system_json(machine.system)).at("topology").flatten();
    std::set<std::string> units;
    for (const auto& [pointer, value] : flat.items()) {
        constexpr std::string_view kKey = "/reduction";
        const auto at = pointer.find(std::string(kKey) + "/");
        if (at != std::string::npos)
            units.insert("/topology" + pointer.substr(0, at + kKey.size()));
    }
    for (const std::string& unit : units)
        overrides.push_back({unit, nullptr});
    return load_system(machine.file, overrides);
}

MachineMatch fit_machine(const std::filesystem::path& system, const WantedMachine& wanted) {
    const KnownMachine known = known_machine(system, load_system(system, {}));
    const std::uint32_t nodes = nodes_of(wanted, known.words.front(), known);
    std::string why = too_small(known, wanted, nodes);
    if (!why.empty())
        return {std::nullopt, std::move(why)};
    return matched(known, wanted, nodes);
}

std::vector<std::string> fitted_sources(const Json& configuration) {
    std::vector<std::string> out;
    collect(configuration, false, out);
    return out;
}

bool names_table(std::string_view text, std::string_view table) {
    for (std::size_t at = text.find(table); at != std::string_view::npos;
         at = text.find(table, at + 1)) {
        const std::size_t end = at + table.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
            return true;
    }
    for (std::size_t star = text.find('*'); star != std::string_view::npos;
         star = text.find('*', star + 1)) {
        std::size_t begin = star;
        while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.'))
            --begin;
        if (begin < star && table.starts_with(text.substr(begin, star - begin)))
            return true;
    }
    return false;
}

Machines::Machines(const std::filesystem::path& root) {
    const auto folder = root / "configs/systems";
    for (const auto& file : files_in(folder, ".json"))
        if (const SystemParams system = load_any_system(file, {}); system.has_gpus())
            known_.push_back(known_machine(file, system));
    // Subfolders hold what systems share (GPUs, constants of collectives).
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored))
        if (entry.path().extension() == ".json")
            std::ranges::move(
                fitted_sources(load_json(entry.path())), std::back_inserter(fitted_sources_));
    if (known_.empty())
        throw ConfigError(
            folder.string(), "", "holds no system; expected JSON files that describe machines");
}

bool Machines::fitted_on(std::string_view table) const {
    return std::any_of(fitted_sources_.begin(), fitted_sources_.end(), [&](const auto& text) {
        return names_table(text, table);
    });
}

Machines::Found Machines::best_of(const WantedMachine& wanted) const {
    const MachineWords words = machine_words(wanted.gpu + " " + wanted.interconnect);
    if (words.gpu.empty())
        return {nullptr, 1, "neither the GPU nor the interconnect names a GPU that is known"};
    Candidate best;
    std::string nearest_misses;
    for (const KnownMachine& known : known_) {
        const std::uint32_t nodes = nodes_of(wanted, words, known);
        std::string why;
        for (const MachineWords& alternative : known.words) {
            const auto score = agreement(words, alternative, nodes > 1);
            if (!score) {
                why = difference(words, alternative, nodes > 1);
                continue;
            }
            why = too_small(known, wanted, nodes);
            if (!why.empty())
                continue;
            const int exact = wanted.gpus / nodes == known.gpus / known.nodes ? 1 : 0;
            const int nics =
                nodes > 1 ? kNicsWeigh * agreement_of_nics(words, alternative, known) : 0;
            if (*score + exact + nics > best.score)
                best = {&known, *score + exact + nics, nodes};
        }
        if (!why.empty() && std::any_of(known.words.begin(), known.words.end(), [&](const auto& w) {
                return w.gpu == words.gpu;
            }))
            nearest_misses +=
                fmt::format("{}{}: {}", nearest_misses.empty() ? "" : "; ", known.name, why);
    }
    if (best.machine != nullptr)
        return {best.machine, best.nodes, ""};
    if (nearest_misses.empty())
        return {nullptr, 1, fmt::format("no system has the GPU {}", words.gpu)};
    return {nullptr, 1, fmt::format("no system with {} fits ({})", words.gpu, nearest_misses)};
}

const MachineMatch& Machines::find(const WantedMachine& wanted) const {
    const auto [at, fresh] = found_.try_emplace(fmt::format(
        "{}\n{}\n{} {}", wanted.gpu, wanted.interconnect, wanted.gpus, wanted.nodes.value_or(0)));
    if (fresh) {
        const Found found = best_of(wanted);
        at->second = found.machine == nullptr ? MachineMatch{std::nullopt, found.why}
                                              : matched(*found.machine, wanted, found.nodes);
    }
    return at->second;
}

std::string Machines::name_of(const WantedMachine& wanted) const {
    const Found found = best_of(wanted);
    return found.machine == nullptr ? std::string() : found.machine->name;
}

}  // namespace switchfold::validation
