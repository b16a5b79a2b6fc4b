// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/change_times.h"

#include "core/params_reader.h"
#include "sim/config/host_costs_params.h"
#include "sim/machine/simulate.h"
#include "training/elastic/phases.h"
#include "training/elastic/state_transfer.h"
#include "training/network/network.h"
#include "training/network/zoo/zoo.h"
#include "validation/harness/number_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>

namespace switchfold::validation {

namespace {

using elastic::Communicator;
using elastic::HostCosts;
using elastic::Members;

constexpr std::uint32_t kGpusOfChangeNode = 8;

/// Bytes of checkpoints stated in a note, for example "18 GB".
std::optional<Bytes> stated_bytes(const std::string& note) {
    for (const auto& [word, bytes] : {std::pair{"18 GB", 18U}, {"24 GB", 24U}})
        if (note.starts_with(word))
            return Bytes(1'000'000'000ULL * bytes);
    return {};
}

struct Broadcast {
    std::shared_ptr<const SystemParams> system;
    Members members;
    Bytes state;
};

double simulated_broadcast(const Broadcast& broadcast, const JobProgress& progress) {
    SimulateOptions options;
    options.progress = progress;
    const Members others(broadcast.members.begin() + 1, broadcast.members.end());
    const ExecutionGraph graph = elastic::transfer_alone(
        {broadcast.members.front()}, others, elastic::Transfer::kRing, broadcast.state);
    CollectivePolicies policies;
    policies.broadcast = ring_policy();
    return to_seconds(Time(simulate(*broadcast.system, graph, policies, options).end_ps));
}

/// 32-bit weights and one moment, as for SGD; for BERT Adam's two moments.
std::optional<Bytes> state_of(const ElasticRow& row) {
    const std::map<std::string, std::pair<std::string, double>, std::less<>> kModels{
        {"ResNet-50", {"resnet50", 8}},
        {"Inception-v3", {"inception_v3", 8}},
        {"BERT", {"bert_large", 12}}};
    const auto found = kModels.find(row.model);
    if (found == kModels.end())
        return {};
    const auto& [name, bytes] = found->second;
    const auto network = find_network(name);
    return Bytes(static_cast<std::uint64_t>(static_cast<double>(parameters(*network)) * bytes));
}

Case change_case(const ElasticRow& row, std::string group, double ours, std::string how) {
    Case c;
    c.id = row.id;
    c.group = std::move(group);
    c.quantity = row.quantity;
    c.unit = row.unit;
    c.measured = row.value;
    c.simulated = ours;
    c.how = std::move(how);
    c.like.kind = "change";
    c.like.operation = row.quantity;
    c.like.ranks = std::max({1U, row.gpus, row.to_gpus});
    c.like.machines = std::max(1U, row.nodes);
    c.like.generation = intervals::generation_of(row.gpu);
    // Sources do not name their machines; each has its own.
    c.machine = row.source.substr(0, row.source.find(','));
    return c;
}

class ChangeComparison {
public:
    ChangeComparison(const Machines& machines, const SuiteOptions& options, SuiteResult& result) :
        machines_(machines),
        options_(options),
        result_(result),
        default_(shipped_costs(options.root, "default.json")),
        elasticflow_(shipped_costs(options.root, "elasticflow.json")) {}

    void run(const std::vector<ElasticRow>& rows) {
        for (const ElasticRow& row : rows)
            value_of_[row.id] = row.value;
        for (const ElasticRow& row : rows)
            if (row.why.empty() && is_change_time(row) && !compare(row))
                result_.unmatched.push_back({row.id, "is not a change's time"});
        add_reconnects();
    }

private:
    bool compare(const ElasticRow& row) {
        if (row.quantity == "change_time")
            return reconnect(row);
        if (row.quantity == "checkpoint_save_time" || row.quantity == "checkpoint_load_time")
            return checkpoint(row);
        if (row.quantity == "communicator_time")
            return communicator(row);
        return false;
    }

    /// Bytes over the storage bandwidth that the row states.
    bool checkpoint(const ElasticRow& row) {
        const auto bytes = stated_bytes(row.note);
        if (!bytes || row.interconnect.find("100 MB/s") == std::string::npos)
            return false;
        HostCosts costs = default_;
        costs.storage_read = costs.storage_write = costs.client = Bandwidth(100'000'000);
        costs.readers = elastic::Readers::kOne;  // the shards together form the state
        const std::uint32_t ranks = std::max(1U, row.gpus);
        const elastic::Placement placement =
            elastic::even_placement(ranks, std::max(1U, row.nodes), default_channels());
        const Time time = row.quantity == "checkpoint_save_time"
                              ? elastic::write_time(costs, *bytes, ranks)
                              : elastic::last_of(elastic::read_ends(
                                    costs, *bytes, placement, std::vector<Time>(ranks)));
        result_.cases.push_back(change_case(
            row, "checkpoints, bytes over bandwidth", to_seconds(time), "storage of 100 MB/s"));
        return true;
    }

    bool communicator(const ElasticRow& row) {
        if (row.phase != "total")
            return false;
        if (row.change == "shrink") {
            const double init = to_seconds(first_communicator(row.from_gpus, row.nodes));
            const double shrink =
                to_seconds(elastic::init_time(default_, Communicator::kShrink, row.to_gpus));
            result_.cases.push_back(change_case(
                row, "communicators, shrink", shrink,
                "no kernels, buffers, bootstrap, connections"));
            add_parent(row, init);
            return true;
        }
        const bool network = row.gpus > kGpusOfChangeNode;
        const Time time = first_communicator(row.gpus, network ? row.gpus / kGpusOfChangeNode : 1);
        Case c = change_case(
            row, "communicators, machines that are not stated", to_seconds(time),
            network ? "over a network" : "in a machine");
        const double waiting = bootstrap_of(row);
        c.measured -= waiting;
        if (waiting > 0)
            c.how += fmt::format(", less {:.2f} s of waiting for the slowest rank", waiting);
        result_.cases.push_back(std::move(c));
        return true;
    }

    /// The bootstrap of a log: ranks wait there for the process that starts last.
    [[nodiscard]] double bootstrap_of(const ElasticRow& total) const {
        constexpr std::string_view kTotal = "_total";
        if (!total.id.ends_with(kTotal))
            return 0;
        const std::string id = total.id.substr(0, total.id.size() - kTotal.size()) + "_bootstrap";
        const auto found = value_of_.find(id);
        return found == value_of_.end() ? 0 : found->second;
    }

    /// Defaults of configs/systems, for values that the row does not state.
    static constexpr std::uint32_t default_channels() { return CollectiveParams().channels; }

    /// A communicator of new processes, including the connections of its first collective.
    [[nodiscard]] Time first_communicator(std::uint32_t ranks, std::uint32_t nodes) const {
        const elastic::Placement placement =
            elastic::even_placement(ranks, std::max(1U, nodes), default_channels());
        std::vector<Time> at(ranks);
        at = elastic::bootstrap_ends(default_, Communicator::kFirst, at);
        for (Time& rank : at)
            rank += elastic::init_time(default_, Communicator::kFirst, ranks);
        return elastic::last_of(
            elastic::connection_ends(default_, Communicator::kFirst, placement, at));
    }

    /// The row's note states the init time of the shrunk communicator's parent.
    void add_parent(const ElasticRow& row, double ours) {
        constexpr std::string_view kWords = "InitRank took ";
        const std::size_t at = row.note.find(kWords);
        if (at == std::string::npos)
            return;
        ElasticRow parent = row;
        parent.id += "/parent";
        parent.value = std::strtod(row.note.c_str() + at + kWords.size(), nullptr);
        result_.cases.push_back(
            change_case(parent, "communicators, shrink", ours, "its parent's init"));
    }

    bool reconnect(const ElasticRow& row) {
        const auto state = state_of(row);
        const std::uint32_t nodes = (row.to_gpus + kGpusOfChangeNode - 1) / kGpusOfChangeNode;
        const MachineMatch match = machines_.find(
            {"A100-SXM4-40GB", nodes > 1 ? "NVSwitch, InfiniBand HDR" : "NVSwitch", row.to_gpus,
             std::max(1U, nodes)});
        if (!state || !match.machine)
            return false;
        Waiting waiting{row, {}, {}};
        waiting.facts.method = elastic::Method::kReconnect;
        waiting.facts.placement = elastic::even_placement(
            row.to_gpus, std::max(1U, nodes), match.machine->system.collectives->channels);
        waiting.facts.ranks_before = std::max(1U, row.from_gpus);
        waiting.facts.added = row.change == "shrink" ? 0
                              : row.change == "grow" ? row.to_gpus - row.from_gpus
                                                     : row.to_gpus;
        waiting.facts.state = *state;
        waiting.broadcast.system = std::make_shared<const SystemParams>(match.machine->system);
        waiting.broadcast.members.resize(row.to_gpus);
        std::iota(waiting.broadcast.members.begin(), waiting.broadcast.members.end(), 0U);
        waiting.broadcast.state = *state;
        waiting_.push_back(std::move(waiting));
        return true;
    }

    void add_reconnects() {
        std::vector<NumberJob> jobs;
        for (const Waiting& w : waiting_)
            if (w.facts.placement.members() > 1)
                jobs.push_back({w.row.id, [&w](const JobProgress& progress) {
                                    return simulated_broadcast(w.broadcast, progress);
                                }});
        const std::vector<double> seconds = run_number_jobs(jobs, options_);
        std::size_t job = 0;
        for (Waiting& w : waiting_) {
            constexpr double kPicoseconds = 1e12;  // per second
            if (w.facts.placement.members() > 1)
                w.facts.broadcast = Time(static_cast<std::uint64_t>(seconds[job++] * kPicoseconds));
            const double pause = pause_of(w.facts, elasticflow_);
            result_.cases.push_back(change_case(
                w.row, doubtful(w.row) ? "ElasticFlow, doubtful rows" : kElasticFlow, pause,
                fmt::format("reconnect; of it broadcast {:.3f} s", to_seconds(w.facts.broadcast))));
        }
    }

    [[nodiscard]] static double
    pause_of(const elastic::ChangeFacts& facts, const HostCosts& costs) {
        return to_seconds(elastic::time_of(elastic::phases_of(facts, costs), false));
    }

    static bool doubtful(const ElasticRow& row) { return row.note.starts_with("doubtful"); }

    static constexpr const char* kElasticFlow = "ElasticFlow, processes kept alive";
    struct Waiting {
        ElasticRow row;
        elastic::ChangeFacts facts;
        Broadcast broadcast;
    };
    const Machines& machines_;
    const SuiteOptions& options_;
    SuiteResult& result_;
    HostCosts default_;
    HostCosts elasticflow_;
    std::map<std::string, double> value_of_;  ///< by the row's id
    std::vector<Waiting> waiting_;
};

}  // namespace

HostCosts shipped_costs(const std::filesystem::path& root, const std::string& name) {
    return read_params_file<HostCostsParams>(root / "configs" / "costs" / name);
}

bool is_change_time(const ElasticRow& row) {
    return row.quantity == "change_time" || row.quantity == "communicator_time" ||
           row.quantity == "checkpoint_save_time" || row.quantity == "checkpoint_load_time";
}

void compare_change_times(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result) {
    ChangeComparison(machines, options, result).run(rows);
}

}  // namespace switchfold::validation
