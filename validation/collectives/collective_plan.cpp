// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/collective_plan.h"

#include "sim/config/workload_names.h"
#include "sim/machine/graph_run.h"
#include "sim/machine/likeness.h"
#include "sim/machine/system_queries.h"
#include "validation/collectives/benchmark_launches.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <tuple>

namespace switchfold::validation {

namespace {

/// By its name, or as nccl-tests and PyTorch name it.
std::optional<Datatype> datatype_of(std::string_view text) {
    static const std::map<std::string_view, Datatype> kOthers{
        {"", Datatype::kFloat32},       {"float", Datatype::kFloat32},
        {"fp32", Datatype::kFloat32},   {"half", Datatype::kFloat16},
        {"fp16", Datatype::kFloat16},   {"bf16", Datatype::kBfloat16},
        {"double", Datatype::kFloat64}, {"fp8", Datatype::kFloat8},
        {"f8e4m3", Datatype::kFloat8},  {"f8e5m2", Datatype::kFloat8}};
    for (const auto& [type, name] : EnumNames<Datatype>::kNames)
        if (name == text)
            return type;
    const auto at = kOthers.find(text);
    return at == kOthers.end() ? std::nullopt : std::optional(at->second);
}

constexpr std::uint64_t kPairsFrom = 4 << 20;

/// A table's name without the first of these words that it contains.
std::string without(std::string table, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        if (const auto at = table.find(word); at != std::string::npos) {
            // Removing a word between two others keeps one of its two separators.
            const std::size_t joint = word.back() == '_' ? 1 : 0;
            return table.erase(at, word.size() - joint);
        }
    return table;
}

class CollectivePlanner {
public:
    CollectivePlanner(
        const std::vector<MeasuredRow>& rows, const Machines& machines,
        const std::filesystem::path& system) :
        rows_(rows), machines_(machines), system_(system), launches_(rows) {}

    CollectivePlan run() {
        for (const MeasuredRow& row : rows_)
            add(row);
        for (const auto& [table, doubt] : doubts_)
            plan_.notes.push_back(fmt::format(
                "suspect, simulated as the machine would run it: {}: {}", table, doubt));
        for (const std::string& table : peaks_)
            plan_.notes.push_back(fmt::format(
                "{} gives a bandwidth without a size: taken at {}", table,
                to_string(Bytes(kPeakBytes))));
        return std::move(plan_);
    }

private:
    struct Place {
        MachineMatch match;
        std::optional<SystemParams> no_in_switch;
    };

    Place& place_of(const MeasuredRow& row) {
        const std::uint32_t nodes = row.nodes.value_or(0);
        const auto key = std::tuple(row.gpu, row.interconnect, row.gpus, nodes);
        auto at = places_.find(key);
        if (at == places_.end()) {
            const WantedMachine wanted{row.gpu, row.interconnect, row.gpus, row.nodes};
            at = places_.emplace(key, Place{match(wanted, row), std::nullopt}).first;
        }
        return at->second;
    }

    MachineMatch match(const WantedMachine& wanted, const MeasuredRow& row) {
        if (system_.empty())
            return machines_.find(wanted);
        MachineMatch named = fit_machine(system_, wanted);
        if (!named.machine)
            throw ConfigError(
                system_.string(), "",
                fmt::format(
                    "cannot run what {} measured: {}; expected the machine of {} GPUs{}", row.table,
                    named.why, wanted.gpus,
                    wanted.nodes ? fmt::format(", {} a node", wanted.gpus / *wanted.nodes) : ""));
        const std::string gpu = machine_words(row.gpu).gpu;
        const std::string& simulated = named.machine->system.gpu->name;
        if (!gpu.empty() && machine_words(simulated).gpu != gpu)
            plan_.notes.push_back(fmt::format(
                "{} was measured on {}, and {} has {}", row.table, row.gpu, named.machine->name,
                simulated));
        return named;
    }

    /// TABLE/SIZE_BYTES/PLACEMENT; duplicates get the algorithm appended, then a number.
    std::string id_of(const MeasuredRow& row) {
        std::string id = fmt::format(
            "{}/{}/{}", row.table, row.bytes ? std::to_string(*row.bytes) : "", row.placement);
        if (!ids_.insert(id).second) {
            id += fmt::format("{}{}", row.placement.empty() ? "" : " ", row.algorithm);
            const std::string base = id;
            for (int i = 2; !ids_.insert(id).second; ++i)
                id = fmt::format("{} #{}", base, i);
        }
        return id;
    }

    void add(const MeasuredRow& row) {
        const std::string id = id_of(row);
        const auto refuse = [&](std::string why) {
            plan_.unmatched.push_back({id, std::move(why)});
        };
        if (!row.unusable.empty())
            return refuse(row.unusable);
        if (!row.collective)
            return refuse(fmt::format("the collective \"{}\" is not known", row.collective_name));
        const auto datatype = datatype_of(row.datatype);
        if (!datatype)
            return refuse(fmt::format("the datatype \"{}\" is not known", row.datatype));
        if (!measured_time(row) && (row.bytes || !row.bus_bandwidth || *row.bus_bandwidth <= 0))
            return refuse("the row has no time, and its bandwidth has too few digits");
        Place& place = place_of(row);
        if (!place.match.machine)
            return refuse(place.match.why);
        const MatchedMachine& machine = *place.match.machine;
        AlgorithmWords words = algorithm_words(row);
        const bool reduces = can_reduce_in_switch(machine.system, row.gpus);
        // A tree of one machine has no edges: its switches do all.
        if (words.algorithm == Algorithm::kInSwitchTree && machine.nodes == 1)
            words.algorithm = Algorithm::kInSwitch;
        if (const std::string why = why_not(row, machine, words.algorithm, reduces, *datatype);
            !why.empty()) {
            words.algorithm = Algorithm::kAuto;
            words.doubt =
                fmt::format("the label says {}, and {} {}", row.algorithm, machine.name, why);
        }
        if (!words.doubt.empty())
            doubts_.emplace(row.table, words.doubt);
        if (!row.bytes)
            peaks_.insert(row.table);
        const bool off = words.in_switch_off && reduces && words.algorithm == Algorithm::kAuto;
        if (off && !place.no_in_switch)
            place.no_in_switch = without_reduction(machine);
        PlannedRow planned;
        planned.id = id;
        planned.row = &row;
        planned.launches = launches_.of(row, machine);
        planned.in_switch =
            words.algorithm == Algorithm::kInSwitch || words.algorithm == Algorithm::kInSwitchTree;
        const bool labelled_off = words.in_switch_off || words.algorithm == Algorithm::kRing ||
                                  words.algorithm == Algorithm::kTree;
        // Types that NVLS cannot reduce use the ring.
        const std::string without_type = without(row.table, {"_" + row.datatype + "_"});
        if (reduces && without_type != row.table && words.algorithm == Algorithm::kAuto &&
            row.collective == CollectiveKind::kAllReduce) {
            if (row.bytes.value_or(0) >= kPairsFrom)
                planned.pair = without_type;
            planned.pair_reduces = reducible_in_switch(*datatype);
        } else if (planned.in_switch != labelled_off) {
            planned.pair = without(row.table, {"_off", "_on"});
            planned.pair_reduces = planned.in_switch;
        }
        planned.run =
            run_of(row, machine, off ? *place.no_in_switch : machine.system, off, words, *datatype);
        plan_.rows.push_back(std::move(planned));
    }

    /// What keeps the machine from an algorithm that switches add for; empty if nothing does.
    static std::string why_not(
        const MeasuredRow& row, const MatchedMachine& machine, Algorithm algorithm, bool reduces,
        Datatype datatype) {
        if (algorithm == Algorithm::kInSwitch)
            return reduces ? "" : "cannot reduce in the switch";
        if (algorithm != Algorithm::kInSwitchTree && algorithm != Algorithm::kCollnet)
            return {};
        CollectivePolicy policy;
        policy.algorithm = algorithm;
        const CollectiveCall call{*row.collective, Bytes(row.bytes.value_or(kPeakBytes)), datatype};
        const std::string why = why_refused(machine.system, policy, call, row.gpus);
        return why.empty() ? why : "cannot: " + why;
    }

    std::size_t run_of(
        const MeasuredRow& row, const MatchedMachine& machine, const SystemParams& system, bool off,
        const AlgorithmWords& words, Datatype datatype) {
        const std::uint64_t element = size_of(datatype).count();
        const std::uint64_t bytes =
            std::max(element, row.bytes.value_or(kPeakBytes) / element * element);
        const std::uint32_t each = row.gpus / machine.nodes;
        // Where the library's version changes what runs; else rows share a simulation. It decides
        // how exchanges run. Of other collectives it changes latencies that NCCL counts across
        // machines, and limits of Blackwells, which decide nothing for large messages.
        constexpr Bytes kVersionDecides = mebibytes(64);
        const bool counted_anew = machine.nodes > 1
                                      ? row.collective == CollectiveKind::kAllReduce
                                      : system.collectives->tuner == TunerGeneration::kBlackwell;
        const bool by_version = row.collective == CollectiveKind::kAllToAll ||
                                (counted_anew && Bytes(bytes) <= kVersionDecides);
        const std::uint32_t version =
            by_version ? library_version(row.library_version).value_or(0) : 0;
        const auto key = std::tuple(
            machine.file.string(), machine.nodes, each, off, *row.collective, version,
            words.algorithm, row.channels.value_or(0), bytes, datatype);
        const auto [at, fresh] = runs_.try_emplace(key, plan_.runs.size());
        if (fresh) {
            plan_.runs.push_back(
                {fmt::format(
                     "{} ({}, {} GPUs, {} bytes)", row.table, machine.name, row.gpus, bytes),
                 system, row.gpus, *row.collective, words.algorithm, row.channels.value_or(0),
                 Bytes(bytes), datatype});
            if (version != 0)
                plan_.runs.back().system.collectives->nccl_version = version;
        }
        return at->second;
    }

    const std::vector<MeasuredRow>& rows_;
    const Machines& machines_;
    const std::filesystem::path& system_;
    BenchmarkLaunches launches_;
    CollectivePlan plan_;
    std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t>, Place> places_;
    std::map<
        std::tuple<
            std::string, std::uint32_t, std::uint32_t, bool, CollectiveKind, std::uint32_t,
            Algorithm, std::uint32_t, std::uint64_t, Datatype>,
        std::size_t>
        runs_;
    std::set<std::string> ids_;
    std::map<std::string, std::string> doubts_;
    std::set<std::string> peaks_;
};

}  // namespace

intervals::Likeness likeness_of(const PlannedRun& run, const std::string& algorithm) {
    intervals::Likeness like = likeness_on(run.system, "collective", run.ranks);
    like.operation = to_string(run.kind);
    like.algorithm = algorithm;
    like.bytes = static_cast<double>(run.bytes.count());
    return like;
}

CollectivePlan plan_collectives(
    const std::vector<MeasuredRow>& rows, const Machines& machines,
    const std::filesystem::path& system) {
    return CollectivePlanner(rows, machines, system).run();
}

}  // namespace switchfold::validation
