// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "sim/config/host_costs_params.h"
#include "sim/machine/simulate.h"
#include "training/elastic/phases.h"
#include "training/elastic/state_transfer.h"
#include "training/network/network.h"
#include "training/network/zoo/zoo.h"
#include "validation/elastic/elastic_row.h"
#include "validation/experiments/row_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string_view>

namespace switchfold::validation {

namespace {

using elastic::Communicator;
using elastic::HostCosts;
using elastic::Members;

constexpr std::uint32_t kGpusOfChangeNode = 8;

/// Costs of configs/costs, the same for all rows.
HostCosts shipped_costs(const ElasticInputs& inputs, const char* name) {
    return read_params_file<HostCostsParams>(inputs.options.root / "configs/costs" / name);
}

double simulated_broadcast(
    const SystemParams& system, std::uint32_t ranks, Bytes state, const JobProgress& progress) {
    Members others(ranks - 1);
    std::iota(others.begin(), others.end(), 1U);
    SimulateOptions options;
    options.progress = progress;
    const ExecutionGraph graph =
        elastic::transfer_alone({0}, others, elastic::Transfer::kRing, state);
    CollectivePolicies policies;
    policies.broadcast = ring_policy();
    return to_seconds(Time(simulate(system, graph, policies, options).end_ps));
}

/// 32-bit weights and one moment, as for SGD; for BERT Adam's two moments.
Bytes state_of(const ElasticRow& row) {
    static const std::map<std::string, std::pair<std::string, double>, std::less<>> kModels{
        {"ResNet-50", {"resnet50", 8}},
        {"Inception-v3", {"inception_v3", 8}},
        {"BERT", {"bert_large", 12}}};
    const auto found = kModels.find(row["model"]);
    if (found == kModels.end())
        throw RowProblem{"is not a change's time"};
    const auto& [name, bytes] = found->second;
    const auto network = find_network(name);
    return Bytes(static_cast<std::uint64_t>(static_cast<double>(parameters(*network)) * bytes));
}

ElasticQuestion
change_question(const ElasticRow& row, std::string group, double seconds, std::string how) {
    Case c;
    c.id = row.id;
    c.group = std::move(group);
    c.quantity = row["quantity"];
    c.unit = row["unit"];
    c.measured = row.value;
    c.simulated = seconds;
    c.how = std::move(how);
    c.like.kind = "change";
    c.like.operation = row["quantity"];
    c.like.ranks = std::max({1U, row.count("n_gpus"), row.count("to_gpus")});
    c.like.machines = std::max(1U, row.count("n_nodes"));
    c.like.generation = intervals::generation_of(row["gpu"]);
    // Sources do not name their machines; each has its own.
    c.machine = row["source"].substr(0, row["source"].find_first_of(":@,"));
    return {std::move(c)};
}

/// Defaults of configs/systems, for values that the row does not state.
elastic::Placement placement_of(std::uint32_t ranks, std::uint32_t nodes) {
    return elastic::even_placement(ranks, std::max(1U, nodes), CollectiveParams().channels);
}

/// Bytes, stated in a note such as "18 GB", over the storage bandwidth that the row states.
std::vector<ElasticQuestion> ask_of_checkpoint(const ElasticRow& row, HostCosts costs) {
    const double gigabytes = std::strtod(row["note"].c_str(), nullptr);
    if (!(gigabytes > 0) || row["interconnect"].find("100 MB/s") == std::string::npos)
        throw RowProblem{"is not a change's time"};
    const Bytes bytes(static_cast<std::uint64_t>(gigabytes * 1e9));
    costs.storage_read = costs.storage_write = costs.client = Bandwidth(100'000'000);
    costs.readers = elastic::Readers::kOne;  // the shards together form the state
    const std::uint32_t ranks = std::max(1U, row.count("n_gpus"));
    const Time time = row["quantity"] == "checkpoint_save_time"
                          ? elastic::write_time(costs, bytes, ranks)
                          : elastic::last_of(elastic::read_ends(
                                costs, bytes, placement_of(ranks, row.count("n_nodes")),
                                std::vector<Time>(ranks)));
    return {change_question(
        row, "checkpoints, bytes over bandwidth", to_seconds(time), "storage of 100 MB/s")};
}

/// A communicator of new processes, including the connections of its first collective.
double first_communicator(const HostCosts& costs, std::uint32_t ranks, std::uint32_t nodes) {
    std::vector<Time> at(ranks);
    at = elastic::bootstrap_ends(costs, Communicator::kFirst, at);
    for (Time& rank : at)
        rank += elastic::init_time(costs, Communicator::kFirst, ranks);
    return to_seconds(elastic::last_of(
        elastic::connection_ends(costs, Communicator::kFirst, placement_of(ranks, nodes), at)));
}

/// The bootstrap of a log: ranks wait there for the process that starts last.
double bootstrap_of(const ElasticRow& total, const std::vector<ElasticRow>& rows) {
    constexpr std::string_view kTotal = "_total";
    if (!total.id.ends_with(kTotal))
        return 0;
    const std::string id = total.id.substr(0, total.id.size() - kTotal.size()) + "_bootstrap";
    const auto found = std::ranges::find(rows, id, &ElasticRow::id);
    return found == rows.end() ? 0 : found->value;
}

std::vector<ElasticQuestion>
ask_of_shrunk_communicator(const ElasticRow& row, const HostCosts& costs) {
    constexpr const char* kGroup = "communicators, shrink";
    const double shrink =
        to_seconds(elastic::init_time(costs, Communicator::kShrink, row.count("to_gpus")));
    std::vector<ElasticQuestion> questions{
        change_question(row, kGroup, shrink, "no kernels, buffers, bootstrap, connections")};
    // The row's note states the init time of the shrunk communicator's parent.
    constexpr std::string_view kWords = "InitRank took ";
    if (const std::size_t at = row["note"].find(kWords); at != std::string::npos) {
        ElasticQuestion parent = change_question(
            row, kGroup, first_communicator(costs, row.count("from_gpus"), row.count("n_nodes")),
            "its parent's init");
        parent.c.id += "/parent";
        parent.c.measured = std::strtod(row["note"].c_str() + at + kWords.size(), nullptr);
        questions.push_back(std::move(parent));
    }
    return questions;
}

}  // namespace

std::vector<ElasticQuestion> ask_of_costs(const ElasticRow& row, const ElasticInputs& inputs) {
    const HostCosts costs = shipped_costs(inputs, "default.json");
    if (row["quantity"] != "communicator_time")
        return ask_of_checkpoint(row, costs);
    if (row["phase"] != "total")
        throw RowProblem{"is not a change's time"};
    if (row["change"] == "shrink")
        return ask_of_shrunk_communicator(row, costs);
    const bool network = row.count("n_gpus") > kGpusOfChangeNode;
    ElasticQuestion question = change_question(
        row, "communicators, machines that are not stated",
        first_communicator(
            costs, row.count("n_gpus"), network ? row.count("n_gpus") / kGpusOfChangeNode : 1),
        network ? "over a network" : "in a machine");
    const double waiting = bootstrap_of(row, inputs.rows);
    question.c.measured -= waiting;
    if (waiting > 0)
        question.c.how += fmt::format(", less {:.2f} s of waiting for the slowest rank", waiting);
    return {question};
}

std::vector<ElasticQuestion> ask_of_reconnect(const ElasticRow& row, const ElasticInputs& inputs) {
    const std::uint32_t nodes = (row.count("to_gpus") + kGpusOfChangeNode - 1) / kGpusOfChangeNode;
    const SystemParams& system = inputs.a100s(row.count("to_gpus"), nodes);
    elastic::ChangeFacts facts;
    facts.method = elastic::Method::kReconnect;
    facts.placement = elastic::even_placement(
        row.count("to_gpus"), std::max(1U, nodes), system.collectives->channels);
    facts.ranks_before = std::max(1U, row.count("from_gpus"));
    facts.added = row["change"] == "shrink" ? 0
                  : row["change"] == "grow" ? row.count("to_gpus") - row.count("from_gpus")
                                            : row.count("to_gpus");
    const Bytes state = state_of(row);
    facts.state = state;
    const bool doubtful = row["note"].starts_with("doubtful");
    ElasticQuestion question = change_question(
        row, doubtful ? "ElasticFlow, doubtful rows" : "ElasticFlow, processes kept alive", 0, "");
    if (row.count("to_gpus") > 1)
        question.job = {
            row.id, [&system, ranks = row.count("to_gpus"), state](const JobProgress& progress) {
                return value_bytes(simulated_broadcast(system, ranks, state, progress));
            }};
    question.answer = [facts, costs = shipped_costs(inputs, "elasticflow.json")](
                          double broadcast, Case& c) mutable {
        constexpr double kPicoseconds = 1e12;  // per second
        facts.broadcast = Time(static_cast<std::uint64_t>(broadcast * kPicoseconds));
        c.simulated = to_seconds(elastic::time_of(elastic::phases_of(facts, costs), false));
        c.how = fmt::format("reconnect; of it broadcast {:.3f} s", to_seconds(facts.broadcast));
    };
    return {std::move(question)};
}

}  // namespace switchfold::validation
