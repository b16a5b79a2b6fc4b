// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/pass_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

std::string_view name_of(Sharing sharing) {
    switch (sharing) {
    case Sharing::kTensor:
        return "tensor";
    case Sharing::kContext:
        return "context";
    case Sharing::kExpert:
        return "expert";
    case Sharing::kExpertNode:
        return "expert node";
    case Sharing::kExpertRail:
        return "expert rail";
    case Sharing::kModel:
        return "model";
    }
    return "?";
}

}  // namespace

std::uint32_t
Communicators::find(const std::string& name, const std::vector<std::uint32_t>& ranks) {
    const auto [at, fresh] =
        index_.try_emplace({name, ranks}, static_cast<std::uint32_t>(groups_.size()));
    if (fresh)
        groups_.push_back({name, ranks});
    return at->second;
}

std::array<Team, 2> gradient_teams(const RankMap& map, std::uint32_t rank) {
    std::array<Team, 2> teams{
        {{"gradients", map.replicas(rank)}, {"gradients of experts", map.replicas(rank)}}};
    std::erase_if(teams[1].ranks, [&](std::uint32_t other) {
        return map.expert_place(other) != map.expert_place(rank);
    });
    return teams;
}

PassWriter::PassWriter(
    const RankMap& map, std::uint32_t rank, const LaunchTimes& launches, Communicators& groups,
    NameTable& names) :
    map_(map), rank_(rank), launches_(launches), groups_(groups), names_(names) {
    stream("compute");  // stream 0
}

std::uint32_t PassWriter::stream(const std::string& name, StreamKind kind) {
    const auto [at, fresh] =
        streams_.try_emplace(name, static_cast<std::uint32_t>(rank_graph_.streams.size()));
    if (fresh)
        rank_graph_.streams.push_back({kind, name, 0});
    return at->second;
}

PassWriter::Index PassWriter::call(const OperationBody& body, Phase phase) {
    const bool communicates = std::holds_alternative<CollectiveOperation>(body) ||
                              std::holds_alternative<SendOperation>(body) ||
                              std::holds_alternative<ReceiveOperation>(body);
    return write(
        communicates ? "call communication" : "launch", stream("host calls", StreamKind::kHost),
        phase, std::exchange(host_waits_, {}),
        HostDelayOperation{communicates ? launches_.collective : launches_.kernel});
}

void PassWriter::short_calls(std::uint32_t count, Phase phase) {
    if (count > 0 && launches_.kernel > Time())
        write(
            "launch short kernels", stream("host calls", StreamKind::kHost), phase,
            std::exchange(host_waits_, {}), HostDelayOperation{launches_.kernel * count});
}

PassWriter::Index PassWriter::add(
    std::string_view name, std::uint32_t stream, Phase phase, std::vector<Index> dependencies,
    OperationBody body) {
    if (launches_.any())
        dependencies.push_back(call(body, phase));
    return write(name, stream, phase, std::move(dependencies), body);
}

PassWriter::Index PassWriter::write(
    std::string_view name, std::uint32_t stream, Phase phase, std::vector<Index> dependencies,
    OperationBody body) {
    std::sort(dependencies.begin(), dependencies.end());
    dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
    Operation operation;
    operation.name = names_.intern(name);
    operation.stream = stream;
    operation.phase = phase;
    operation.dependencies = dependencies;
    operation.body = body;
    rank_graph_.operations.push_back(std::move(operation));
    return latest();
}

std::uint32_t PassWriter::compute(std::size_t lane) {
    return stream(lane == 0 ? "compute" : "compute beside");
}

void PassWriter::kernel(
    std::size_t lane, std::string_view name, Phase phase, const KernelOperation& kernel) {
    Lane& l = lanes_[lane];
    l.last = add(name, compute(lane), phase, std::exchange(l.waits, {}), kernel);
}

std::optional<CollectiveOperation>
PassWriter::part(CollectiveKind kind, Bytes bytes, Datatype datatype, const Team& team) {
    const std::size_t members = team.ranks.size();
    if (members <= 1 || bytes.count() == 0)
        return {};
    CollectiveOperation collective;
    collective.kind = kind;
    // Rounds up to whole grains in every rank's part.
    const std::uint64_t grain = std::uint64_t{16} * members;
    collective.bytes = Bytes((bytes.count() + grain - 1) / grain * grain);
    collective.datatype = datatype;
    collective.group = groups_.find(team.name, team.ranks);
    collective.sequence = sequence_[collective.group]++;
    collective.size_source = SizeSource::kUser;
    return collective;
}

const Team& PassWriter::team_of(Sharing sharing, std::size_t lane) {
    const char* beside = lane == 0 ? "" : " beside";
    auto team = teams_.find({sharing, lane});
    if (team == teams_.end())
        team = teams_
                   .emplace(
                       std::pair(sharing, lane),
                       Team{
                           fmt::format("{}{}", name_of(sharing), beside),
                           map_.sharing(sharing, rank_)})
                   .first;
    return team->second;
}

std::optional<PassWriter::Index> PassWriter::collective_beside(
    const CollectiveItem& item, Phase phase, std::vector<Index> dependencies) {
    return collective(
        item.name, item.kind, item.bytes, item.datatype, team_of(item.sharing, 0), phase,
        std::move(dependencies));
}

void PassWriter::wait_for_collective(std::size_t lane, const CollectiveItem& item, Phase phase) {
    const Team& team = team_of(item.sharing, lane);
    const auto collective = part(item.kind, item.bytes, item.datatype, team);
    if (!collective)
        return;
    Lane& l = lanes_[lane];
    const Index index = add(item.name, stream(team.name), phase, ends(lane), *collective);
    if (item.beside)
        l.beside.push_back(index);
    else
        l.waits = {index};
}

void PassWriter::join(std::size_t lane) {
    Lane& l = lanes_[lane];
    l.waits.insert(l.waits.end(), l.beside.begin(), l.beside.end());
    l.beside.clear();
}

PassWriter::Index PassWriter::one_kernel(std::size_t lane, std::string_view name, Phase phase) {
    KernelOperation kernel;
    kernel.kernel_class = KernelClass::kOther;
    kernel.isolated = nanoseconds(1);
    kernel.byte_source = ByteSource::kShapes;
    kernel.duration_source = DurationSource::kModel;
    Lane& l = lanes_[lane];
    l.last = write(name, compute(lane), phase, std::exchange(l.waits, {}), kernel);
    host_waits_for(*l.last);
    return *l.last;
}

bool PassWriter::layer_work(std::size_t lane, const WorkItem& item, Phase phase) {
    if (const auto* computes = std::get_if<KernelItem>(&item))
        kernel(lane, computes->name, phase, computes->kernel);
    else if (const auto* calls = std::get_if<CallsItem>(&item))
        short_calls(calls->count, phase);
    else if (std::holds_alternative<HostWaitItem>(item))
        for (const Index end : ends(lane))
            host_waits_for(end);
    else if (const auto* collective = std::get_if<CollectiveItem>(&item))
        wait_for_collective(lane, *collective, phase);
    else if (std::holds_alternative<JoinItem>(item))
        join(lane);
    else
        return false;
    return true;
}

void PassWriter::gather(
    std::size_t lane, const std::vector<Gathered>& parts, Datatype datatype, Phase phase) {
    Lane& l = lanes_[lane];
    const std::vector<Index> after = std::exchange(l.unit, ends(lane));
    for (const Gathered& part : parts) {
        const auto index = collective(
            "gather weights", CollectiveKind::kAllGather, part.bytes, datatype, part.team, phase,
            after);
        if (index)
            l.waits.push_back(*index);
    }
}

std::optional<PassWriter::Index> PassWriter::collective(
    std::string_view name, CollectiveKind kind, Bytes bytes, Datatype datatype, const Team& team,
    Phase phase, std::vector<Index> dependencies) {
    const auto collective = part(kind, bytes, datatype, team);
    if (!collective)
        return {};
    return add(name, stream(team.name), phase, std::move(dependencies), *collective);
}

PassWriter::Index PassWriter::message(
    const std::string& stream_name, std::string_view name, bool sends, std::uint32_t peer,
    Bytes bytes, std::uint64_t tag, Phase phase, std::vector<Index> dependencies) {
    OperationBody body;
    if (sends)
        body = SendOperation{peer, bytes, tag};
    else
        body = ReceiveOperation{peer, bytes, tag};
    return add(name, stream(stream_name), phase, std::move(dependencies), body);
}

PassWriter::Index PassWriter::kernel_beside(
    const std::string& stream_name, std::string_view name, Phase phase,
    const KernelOperation& kernel, std::vector<Index> dependencies) {
    return add(name, stream(stream_name), phase, std::move(dependencies), kernel);
}

PassWriter::Index PassWriter::host_copy(
    std::string_view name, CopyKind kind, Bytes bytes, Phase phase,
    std::vector<Index> dependencies) {
    const char* queue = kind == CopyKind::kHostToDevice ? "copies in" : "copies out";
    return add(
        name, stream(queue), phase, std::move(dependencies), CopyOperation{kind, bytes, Time()});
}

PassWriter::Index PassWriter::host_work(
    std::string_view name, Time duration, Phase phase, std::vector<Index> dependencies) {
    return add(
        name, stream("host", StreamKind::kHost), phase, std::move(dependencies),
        HostDelayOperation{duration});
}

std::vector<PassWriter::Index> PassWriter::ends(std::size_t lane) const {
    std::vector<Index> all = lanes_[lane].waits;
    if (lanes_[lane].last)
        all.push_back(*lanes_[lane].last);
    return all;
}

std::optional<PassWriter::Index> PassWriter::last(std::size_t lane) const {
    const std::vector<Index> all = ends(lane);
    if (all.empty())
        return {};
    return *std::max_element(all.begin(), all.end());
}

void PassWriter::span(
    std::string_view name, Index first, Index last, std::uint32_t round, Phase phase) {
    rank_graph_.spans.push_back({names_.intern(name), first, last, round, phase});
}

void PassWriter::memory(MemoryClass what, std::int64_t bytes, Index operation, bool at_end) {
    if (bytes != 0)
        rank_graph_.memory.push_back({operation, at_end, what, bytes});
}

}  // namespace switchfold
