// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/engine.h"

#include "core/error.h"
#include "models/collectives/choice/block_limit.h"
#include "models/collectives/engine_instance.h"
#include "models/collectives/functional.h"
#include "models/collectives/library.h"
#include "models/collectives/shortcuts/collective_key.h"
#include "models/collectives/shortcuts/rank_symmetry.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

CollectiveEngine::CollectiveEngine(
    const sc_core::sc_module_name& name, Fabric& fabric, const CollectiveParams& params,
    const CollectivePolicies& policies, std::vector<RankPort*> ports, std::vector<Group> groups,
    std::uint64_t functional_seed) :
    sc_module(name),
    fabric_(fabric),
    clock_(fabric.scheduler()),
    params_(limited(params, policies.most_blocks)),
    policies_(limited(policies, policies.most_blocks)),
    ports_(std::move(ports)),
    groups_(std::move(groups)),
    functional_seed_(functional_seed) {
    fabric_.set_listener(this);
}

CollectiveEngine::~CollectiveEngine() {
    fabric_.set_listener(nullptr);
}

CollectiveEnvironment CollectiveEngine::environment() const {
    const bool functional = functional_seed_ != 0;
    return {fabric_, params_, ports_, functional, fast_forward_ != nullptr && !functional};
}

void CollectiveEngine::allow_shortcuts(TrafficCounts& counts, Recall recall, bool loosely) {
    fast_forward_ = std::make_unique<FastForward>(
        fabric_.scheduler(), counts, loosely,
        FastForward::Beside{
            [this] { return undisturbed(fast_forward_->watching()); },
            [this] { return fabric_.host_traffic().bytes; }});
    attach(*fast_forward_);
    if (recall == Recall::kNever)
        return;
    memos_ = std::make_unique<CollectiveMemos>(fabric_, counts, ports_, recall);
    attach(*memos_);
}

void CollectiveEngine::remember_messages(TrafficCounts& counts) {
    if (functional_seed_ == 0 && fabric_.congestion() == nullptr)
        messages_ = std::make_unique<MessageMemo>(fabric_, counts, ports_);
}

double CollectiveEngine::half_done() const {
    double done = 0;
    for (const auto& [key, instance] : running_)
        done += instance->share_done() * static_cast<double>(instance->members.size());
    return done;
}

Time CollectiveEngine::jumped() const {
    return (fast_forward_ ? fast_forward_->jumped() : Time()) +
           (memos_ ? memos_->recalled() : Time());
}

std::vector<RankPort*> CollectiveEngine::ports_of(const CollectiveSpec& spec) const {
    std::vector<RankPort*> ports;
    for (const std::uint32_t rank : spec.ranks)
        ports.push_back(ports_[rank]);
    return ports;
}

/// More are not looked through.
constexpr std::size_t kMostWatched = 64;

void CollectiveEngine::watch() {
    if (!fast_forward_ || running_.empty() || running_.size() > kMostWatched ||
        fast_forward_->watching() == running_.size())
        return;
    const CollectiveSpec& first = running_.begin()->second->spec;
    std::vector<RunningCollective*> all;
    std::vector<const RankPort*> ports;
    for (const auto& [key, instance] : running_) {
        // In an exchange with a late rank, a part has not begun yet.
        if ((instance->exchange() && instance->spec.peers_late != Time()) || instance->passing ||
            instance->joined < instance->members.size() || !alike(instance->spec, first))
            return;
        all.push_back(instance->running.get());
        const std::vector<RankPort*> own = ports_of(instance->spec);
        ports.insert(ports.end(), own.begin(), own.end());
    }
    fast_forward_->watch(all, std::move(ports), motion_of(first));
}

/// Shorter ones end soon, and their ends weigh.
constexpr Bytes kLongTree = mebibytes(512);

Motion CollectiveEngine::motion_of(const CollectiveSpec& spec) {
    const bool trees = spec.choice.algorithm == Algorithm::kTree ||
                       spec.choice.algorithm == Algorithm::kInSwitchTree;
    const bool chains =
        spec.kind == CollectiveKind::kBroadcast || spec.kind == CollectiveKind::kReduce;
    if (!(trees || chains) || spec.layout.machines.size() < 2 || spec.bytes < kLongTree)
        return Motion::kClose;
    if (!one_nic_each_)
        one_nic_each_ = one_nic_each(fabric_.topology());
    return chains || *one_nic_each_ ? Motion::kWandering : Motion::kClose;
}

bool CollectiveEngine::undisturbed(std::size_t collectives) const {
    return running_.size() == collectives && fabric_.host_traffic().copies == 0 &&
           std::ranges::all_of(running_, [](const auto& one) {
               return !one.second->passing && one.second->all_move();
           });
}

/// Longer than any packet is under way.
constexpr Time kGone = microseconds(20'000);

void CollectiveEngine::retire(std::unique_ptr<RunningCollective> running) {
    running->abandon();
    if (fast_forward_)
        fast_forward_->forget(*running);
    const Time now = fabric_.scheduler().now();
    // With faults there are no memos, and operands may lie in switches for longer.
    if (memos_)
        std::erase_if(retired_, [&](const Retired& other) {
            return other.since + kGone < now && other.running->quiet();
        });
    retired_.push_back({std::move(running), now});
}

std::unique_ptr<RunningCollective> CollectiveEngine::make_running(Instance& instance) {
    std::string refused;
    if (auto running = make_collective(environment(), instance.spec, instance, refused))
        return running;
    if (instance.spec.kind != CollectiveKind::kAllReduce)
        throw SimulationError(fabric_.name(), clock_.now(), refused);
    make_ring(instance, Fallback::kRefused, refused);
    return std::move(instance.running);
}

void CollectiveEngine::run_as_ring(Instance& instance, Fallback why, const std::string& text) {
    // Once a member has everything, all sums are on their way to all members.
    for (const Instance::Member& member : instance.members)
        if (member.done)
            return;
    make_ring(instance, why, text);
    for (std::uint32_t position = 0; position < instance.members.size(); ++position)
        if (instance.members[position].joined)
            instance.running->join(position, fabric_.scheduler().now());
    watch();
}

void CollectiveEngine::make_ring(Instance& instance, Fallback why, const std::string& text) {
    CollectiveSpec& spec = instance.spec;
    SWITCHFOLD_CHECK(spec.stands_for == 0, "a folded collective cannot become a ring: {}", text);
    std::uint32_t channels = 0;
    if (instance.running) {
        retire(std::move(instance.running));
        channels = spec.choice.channels;  // the kernel is already on the GPU
    }
    spec.choice = ring_choice(spec, channels);
    spec.rings = view(spec.ranks).rings;
    instance.record.choice = spec.choice;
    instance.record.fallback = why;
    notes_.push_back(fmt::format(
        "an in-switch all-reduce of {} over {} ranks ran as a ring: {} (at {})",
        to_string(spec.bytes), spec.ranks.size(), text, to_string(clock_.now())));
    std::string never;  // a ring needs no room in switches
    instance.running = make_collective(environment(), spec, instance, never);
    if (functional_seed_ != 0)
        instance.give_values();
}

void CollectiveEngine::on_link_down(const Link& there, const Link& back) {
    views_.clear();
    for (auto& [key, instance] : running_) {
        if (!instance->running->uses(there) && !instance->running->uses(back))
            continue;
        const std::string text = fmt::format("{} went down", there.basename());
        if (instance->spec.kind != CollectiveKind::kAllReduce)
            throw SimulationError(
                there.name(), clock_.now(),
                fmt::format(
                    "went down during a {} through the switches, which has no alternative "
                    "path",
                    to_string(instance->spec.kind)));
        run_as_ring(*instance, Fallback::kLinkDown, text);
    }
}

void CollectiveEngine::start(
    std::uint32_t rank, std::uint32_t operation, const CollectiveOperation& collective,
    std::int32_t priority, CollectiveListener& listener) {
    const Key key{collective.group, collective.sequence, 0, 0};
    auto& slot = running_[key];
    if (!slot) {
        tell_of_begin(
            {collective.kind, collective.group, collective.sequence, most_sent(collective)});
        slot = std::make_unique<Instance>(*this, key, limit(specify(collective)));
        slot->record.kind = collective.kind;  // a dispatch may run as an all-to-all
        slot->record.group = collective.group;
        slot->record.sequence = collective.sequence;
        slot->record.bytes = most_sent(collective);
        slot->record.exchange = collective.exchange;
        slot->record.first_operation = operation;
    }
    Instance& instance = *slot;
    if (instance.record.kind == collective.kind && instance.record.exchange != collective.exchange)
        throw SimulationError(
            name(), clock_.now(),
            fmt::format(
                "rank {} calls {} with other parts than the rank before it; expected one exchange",
                rank, instance.label()));
    if (instance.record.kind != collective.kind || instance.record.bytes != most_sent(collective))
        throw SimulationError(
            name(), clock_.now(),
            fmt::format(
                "rank {} calls {} of {}, but collective {} of its group is {} of {}", rank,
                to_string(collective.kind), to_string(collective.bytes), collective.sequence,
                to_string(instance.record.kind), to_string(instance.record.bytes)));
    arrive(instance, {rank, operation, priority, &listener});
}

void CollectiveEngine::start_transfer(
    std::uint32_t rank, std::uint32_t operation, const TransferEnd& end, std::int32_t priority,
    CollectiveListener& listener) {
    const Time now = clock_.now();
    if (end.sender == end.receiver || std::max(end.sender, end.receiver) >= ports_.size())
        throw SimulationError(
            name(), now,
            fmt::format(
                "rank {} sends to rank {}; expected two ranks of this run of {}", end.sender,
                end.receiver, ports_.size()));
    const std::uint64_t pair = std::uint64_t{end.sender} << 32U | end.receiver;
    const std::uint64_t sequence = transfers_[{pair, end.tag, rank == end.sender ? 0U : 1U, 0}]++;
    const Key key{UINT64_MAX, pair, end.tag, sequence};
    auto& slot = running_[key];
    if (!slot) {
        tell_of_begin({CollectiveKind::kSendReceive, 0, sequence, end.bytes});
        slot = std::make_unique<Instance>(*this, key, limit(specify(end)));
        slot->record.sequence = sequence;
        slot->record.sender = end.sender;
        slot->record.receiver = end.receiver;
        slot->record.tag = end.tag;
        slot->record.first_operation = operation;
    }
    Instance& instance = *slot;
    if (instance.record.bytes != end.bytes)
        throw SimulationError(
            name(), now,
            fmt::format(
                "{} of tag {} is of {} at one end and {} at the other", instance.label(), end.tag,
                to_string(instance.record.bytes), to_string(end.bytes)));
    arrive(instance, {rank, operation, priority, &listener});
}

void CollectiveEngine::arrive(Instance& instance, const Arrival& arrival) {
    const std::uint32_t position = instance.position_of(arrival.rank);
    SWITCHFOLD_CHECK(
        position < instance.members.size() && instance.spec.ranks[position] == arrival.rank,
        "rank {} is not in {}", arrival.rank, instance.label());
    Instance::Member& member = instance.members[position];
    SWITCHFOLD_CHECK(!member.arrived, "rank {} comes twice to {}", arrival.rank, instance.label());
    member.arrived = true;
    member.listener = arrival.listener;
    member.operation = arrival.operation;
    if (++instance.arrived == instance.members.size())
        instance.record.ready = clock_.now() + instance.spec.peers_late;
    const CollectiveSpec& spec = instance.spec;
    const ResidentShape shape = kernel_shape(params_, spec);
    CommunicationKernel kernel;
    kernel.blocks = spec.blocks != 0 ? spec.blocks : spec.choice.channels;
    member.blocks = kernel.blocks;
    if (kernel.blocks == 0)
        return post({MemberEvent::Kind::kResident, &instance, position}, fabric_.scheduler().now());
    kernel.threads_per_block = shape.threads;
    kernel.registers_per_thread =
        spec.registers_per_thread != 0 ? spec.registers_per_thread : shape.registers_per_thread;
    kernel.shared_memory =
        spec.shared_memory.count() != 0 ? spec.shared_memory : shape.shared_memory;
    kernel.footprint = instance.record.footprint = instance.running->footprint();
    kernel.priority = arrival.priority;
    kernel.exchange = instance.spec.kind == CollectiveKind::kAllToAll;
    member.ticket = ports_[arrival.rank]->occupy(kernel, instance);
}

void CollectiveEngine::post(const MemberEvent& event, Time at) {
    std::uint32_t tag = 0;
    if (free_events_.empty()) {
        tag = static_cast<std::uint32_t>(events_.size());
        events_.push_back(event);
    } else {
        tag = free_events_.back();
        free_events_.pop_back();
        events_[tag] = event;
    }
    fabric_.scheduler().at(at, *this, tag);
}

void CollectiveEngine::on_event(std::uint64_t tag) {
    const MemberEvent event = events_[tag];
    free_events_.push_back(static_cast<std::uint32_t>(tag));
    Instance& instance = *event.instance;
    switch (event.kind) {
    case MemberEvent::Kind::kResident:
        return instance.on_resident(instance.spec.ranks[event.position]);
    case MemberEvent::Kind::kPeersCome:
        return instance.join(event.position);
    case MemberEvent::Kind::kBegin:
        return instance.begin_held();
    case MemberEvent::Kind::kBlocksLeave:
        return ports_[instance.spec.ranks[event.position]]->keep(
            instance.members[event.position].ticket, event.blocks);
    case MemberEvent::Kind::kEnd:
        return end_member(instance, event.position);
    }
}

void CollectiveEngine::end_member(Instance& instance, std::uint32_t position) {
    Instance::Member& member = instance.members[position];
    member.ended = true;
    if (member.blocks > 0)
        ports_[instance.spec.ranks[position]]->vacate(member.ticket);
    const bool last = ++instance.ended == instance.members.size();
    CollectiveListener* listener = member.listener;
    const std::uint32_t operation = member.operation;
    if (last)
        finish(instance);
    listener->on_collective_end(operation);
}

void CollectiveEngine::finish(Instance& instance) {
    instance.record.end = clock_.now();
    if (instance.moves_beside_messages())
        messages_->other_ends();
    auto* functional =
        functional_seed_ != 0 ? dynamic_cast<Functional*>(instance.running.get()) : nullptr;
    if (functional != nullptr && instance.spec.bytes.count() > 0) {
        const std::string wrong =
            instance.before.empty()
                ? functional->wrong_result()
                : check_values(instance.spec, instance.before, functional->results());
        if (!wrong.empty())
            wrong_.push_back(fmt::format("{}: {}", instance.label(), wrong));
        if (!instance.before.empty() && instance.spec.format().quantised.used())
            note_quantised(instance, functional->results());
    }
    if (std::string note = instance.running->note(); !note.empty())
        notes_.push_back(fmt::format("{}: {}", instance.label(), note));
    coarse_ += instance.running->coarse();
    const CollectiveRecord& record = instance.record;
    const CollectiveSeen seen{record.kind,  record.group, record.sequence,
                              record.bytes, &record,      instance.running.get()};
    for (Probe* probe : probes_)
        probe->on_collective_end(seen, clock_.now());
    if (memos_) {
        memos_->at(instance.part).ended(instance);
        memos_->ends(instance.part);
    }
    records_.push_back(record);
    // A collective with pending events is kept until they have occurred.
    auto ended = running_.extract(Key(instance.key));
    if (!ended.mapped()->running->quiet())
        lingering_.push_back(std::move(ended.mapped()));
    std::erase_if(lingering_, [](const auto& other) { return other->running->quiet(); });
    watch();
}

void CollectiveEngine::note_quantised(
    const Instance& instance, const std::vector<std::vector<float>>& after) {
    quantised_.add(instance.spec, instance.before, after);
    if (quantised_note_ == 0) {
        notes_.emplace_back();
        quantised_note_ = notes_.size();
    }
    notes_[quantised_note_ - 1] = quantised_.words(instance.spec.format().quantised);
}

std::vector<std::string> CollectiveEngine::blocked() const {
    constexpr std::size_t kLines = 4;
    std::vector<std::string> lines;
    for (const auto& [key, instance] : running_) {
        if (instance->arrived < instance->members.size()) {
            for (std::size_t i = 0; i < instance->members.size(); ++i)
                if (!instance->members[i].arrived && lines.size() < kLines)
                    lines.push_back(fmt::format(
                        "{} waits for rank {}", instance->label(), instance->spec.ranks[i]));
            continue;
        }
        for (std::string& line : instance->running->blocked(kLines))
            lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace switchfold
