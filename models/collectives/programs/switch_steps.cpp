// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/switch_steps.h"

#include "core/error.h"
#include "models/collectives/group_collective.h"
#include "models/collectives/in_switch/in_switch_steps.h"

#include <algorithm>
#include <utility>

namespace switchfold::programs {

namespace {

constexpr std::uint32_t kOffsetBits = 40;

}  // namespace

SwitchSteps::SwitchSteps(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, const Program& program,
    std::vector<std::vector<float>>& memory) :
    fabric_(environment.fabric),
    scheduler_(environment.fabric.scheduler()),
    params_(environment.params),
    ports_(environment.ports),
    spec_(spec),
    memory_(memory),
    switches_(spec.choice.of<ProgramConfig>().uses_switches),
    client_(environment.fabric.add_client(*this)) {
    const std::uint32_t each =
        program.shape.per_machine == 0 ? program.shape.ranks : program.shape.per_machine;
    const InSwitchShape shape =
        in_switch_shape(params_, each, program.shape.instances, spec.bytes.count(), true);
    round_ = shape.reduce_round;
    window_ = shape.reduce_window;
    unit_ = std::min(round_, static_cast<std::uint32_t>(params_.transfer_unit.count()));
    std::uint32_t jobs = 0;
    for (std::uint32_t position = 0; position < program.shape.ranks; ++position) {
        machine_of_.push_back(position / each);
        if (ranks_of_.size() <= machine_of_.back())
            ranks_of_.emplace_back();
        ranks_of_.back().push_back(spec.ranks[position]);
        first_job_.push_back(jobs);
        jobs += static_cast<std::uint32_t>(program.ranks[position].blocks.size());
    }
    jobs_.resize(jobs);
}

SwitchSteps::~SwitchSteps() {
    fabric_.remove_client(client_);
    for (const auto& group : groups_)
        if (group)
            fabric_.remove_group(*group);
}

bool SwitchSteps::reserve(std::string& refused) {
    if (!switches_)
        return true;
    for (const auto& ranks : ranks_of_) {
        groups_.push_back(
            ranks.size() > 1 ? fabric_.create_group(ranks, spec_.format(), refused) : nullptr);
        if (ranks.size() > 1 && !groups_.back())
            return false;
    }
    return true;
}

std::uint32_t SwitchSteps::position_of(std::uint32_t rank) const {
    const auto at = std::lower_bound(spec_.ranks.begin(), spec_.ranks.end(), rank);
    return static_cast<std::uint32_t>(at - spec_.ranks.begin());
}

std::uint32_t
SwitchSteps::take_values(std::uint32_t position, std::uint64_t offset, std::uint64_t bytes) {
    if (memory_.empty())
        return 0;
    return fabric_.values().put_part(
        memory_[position], offset / spec_.element_bytes, bytes / spec_.element_bytes);
}

void SwitchSteps::post(Stage stage, std::uint32_t job, std::uint64_t at) {
    scheduler_.at(
        std::max(Time(at), scheduler_.now()), *this,
        static_cast<std::uint64_t>(stage) << 56U | job);
}

void SwitchSteps::move(const AsideStep& step, std::uint64_t start) {
    const std::uint32_t index = first_job_[step.rank] + step.place;
    Job& job = jobs_[index];
    SWITCHFOLD_CHECK(!job.busy, "a block does two things at once");
    job = {.step = step, .barriers = job.barriers, .busy = true};
    job.end = start;
    post(step.op == Op::kNothing ? Stage::kEnd : Stage::kBegin, index, start);
}

void SwitchSteps::on_event(std::uint64_t tag) {
    const auto job = static_cast<std::uint32_t>(tag);
    switch (static_cast<Stage>(tag >> 56U)) {
    case Stage::kBegin:
        return begin(job);
    case Stage::kOn:
        --jobs_[job].unsent;
        store_on(job);
        return try_end(job);
    case Stage::kEnd:
        jobs_[job].busy = false;
        jobs_[job].step.block->end_aside(scheduler_.now().count());
        return;
    }
}

void SwitchSteps::begin(std::uint32_t index) {
    const Job& job = jobs_[index];
    if (job.step.op == Op::kBarrier)
        return arrive(index);
    if (ranks_of_[machine_of_[job.step.rank]].size() == 1) {
        // A machine of one GPU: a copy of its own.
        const std::uint32_t values = take_values(job.step.rank, job.step.from, job.step.bytes);
        if (values != 0)
            fabric_.values().take(
                values, memory_[job.step.rank], job.step.to / spec_.element_bytes);
        const Time served =
            ports_[spec_.ranks[job.step.rank]]->access(job.step.bytes, job.step.bytes);
        return post(Stage::kEnd, index, served.count());
    }
    if (job.step.op == Op::kMulticastStore)
        store_on(index);
    else
        ask(index);
}

void SwitchSteps::arrive(std::uint32_t index) {
    Job& job = jobs_[index];
    const std::uint32_t machine = machine_of_[job.step.rank];
    // The block's threads meet; one fences, posts to all, and polls.
    job.arrived = scheduler_.now().count();
    const std::uint64_t posted =
        job.arrived + (params_.simple.slice_overhead + params_.in_switch_sync).count();
    const std::pair key(std::uint64_t{machine} << 32U | job.step.place, ++job.barriers);
    Barrier& barrier = barriers_[key];
    barrier.last = std::max(barrier.last, posted);
    if (++barrier.come < members(machine))
        return;
    const Time way =
        groups_.size() > machine && groups_[machine] ? groups_[machine]->to_root() : Time();
    for (std::uint32_t p = 0; p < machine_of_.size(); ++p) {
        if (machine_of_[p] != machine)
            continue;
        Job& waiting = jobs_[first_job_[p] + job.step.place];
        // A poll goes round through the switch; what nothing follows ends with its flag.
        const std::uint64_t seen =
            waiting.step.last
                ? barrier.last
                : poll_until(Time(waiting.arrived), way * 4, Time(barrier.last)).answered.count();
        post(Stage::kEnd, first_job_[p] + job.step.place, seen);
    }
    barriers_.erase(key);
}

void SwitchSteps::ask(std::uint32_t index) {
    Job& job = jobs_[index];
    const std::uint32_t machine = machine_of_[job.step.rank];
    const std::uint32_t member = job.step.rank - position_of(ranks_of_[machine].front());
    while (job.asked < job.step.bytes &&
           (job.asked == job.answered || job.asked - job.answered + unit_ <= window_)) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, job.step.bytes - job.asked));
        fabric_.send(
            *groups_[machine], member,
            {.kind = PacketKind::kReduceRequest,
             .payload = bytes,
             .tag = std::uint64_t{index} << kOffsetBits | job.asked,
             .client = client_,
             .slot = (job.step.from + job.asked) / round_});
        job.asked += bytes;
    }
}

void SwitchSteps::store(
    std::uint32_t index, std::uint64_t offset, std::uint32_t bytes, std::uint32_t values) {
    Job& job = jobs_[index];
    const std::uint32_t machine = machine_of_[job.step.rank];
    const std::uint32_t member = job.step.rank - position_of(ranks_of_[machine].front());
    const OptionalTime departs = fabric_.send(
        *groups_[machine], member,
        {.kind = PacketKind::kMulticastWrite,
         .payload = bytes,
         .tag = std::uint64_t{index} << kOffsetBits | offset,
         .client = client_,
         .slot = (job.step.to + offset) / round_,
         .values = values});
    if (job.step.op != Op::kMulticastStore)
        return;
    ++job.unsent;
    if (departs)
        post(Stage::kOn, index, departs->count());
}

void SwitchSteps::store_on(std::uint32_t index) {
    Job& job = jobs_[index];
    const auto most = std::max<std::uint64_t>(2, params_.outstanding_stores.count() / unit_);
    while (job.step.op == Op::kMulticastStore && job.asked < job.step.bytes && job.unsent < most) {
        const auto bytes =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(unit_, job.step.bytes - job.asked));
        ports_[spec_.ranks[job.step.rank]]->access(bytes, 0);
        const std::uint64_t offset = job.asked;
        job.asked += bytes;
        store(index, offset, bytes, take_values(job.step.rank, job.step.from + offset, bytes));
    }
}

void SwitchSteps::on_departure(std::uint64_t tag, Time /*departure*/) {
    const auto index = static_cast<std::uint32_t>(tag >> kOffsetBits);
    if (jobs_[index].step.op == Op::kMulticastStore && jobs_[index].unsent > 0)
        post(Stage::kOn, index, scheduler_.now().count());
}

std::uint32_t SwitchSteps::supply(const Packet& packet, std::uint32_t rank) {
    const Job& job = jobs_[packet.tag >> kOffsetBits];
    const std::uint64_t offset = packet.tag & ((1ULL << kOffsetBits) - 1);
    return take_values(
        position_of(rank), job.step.from + offset + fetched_from(packet), packet.payload);
}

void SwitchSteps::on_packet(const Packet& packet, std::uint32_t rank, Time visible) {
    const auto index = static_cast<std::uint32_t>(packet.tag >> kOffsetBits);
    const std::uint64_t offset = packet.tag & ((1ULL << kOffsetBits) - 1);
    Job& job = jobs_[index];
    if (packet.kind != PacketKind::kReduceResult) {
        if (packet.values != 0)
            fabric_.values().take(
                packet.values, memory_[position_of(rank)],
                (job.step.to + offset) / spec_.element_bytes);
        job.delivered += packet.payload;
        job.end = std::max(job.end, visible.count());
        return try_end(index);
    }
    if (packet.count == 0)
        throw SimulationError(
            fabric_.name(), scheduler_.now(),
            std::string(kUnitTimedOut) + " under a program's multimem_reduce");
    job.answered += packet.payload;
    if (job.step.op == Op::kMultimemReduceAll) {
        store(index, offset, packet.payload, packet.values);
    } else {
        if (packet.values != 0)
            fabric_.values().take(
                packet.values, memory_[job.step.rank],
                (job.step.to + offset) / spec_.element_bytes);
        const Time written = ports_[rank]->access(0, packet.payload);
        job.end = std::max({job.end, visible.count(), written.count()});
    }
    ask(index);
    try_end(index);
}

void SwitchSteps::try_end(std::uint32_t index) {
    Job& job = jobs_[index];
    const std::uint32_t machine = machine_of_[job.step.rank];
    const bool stores = job.step.op != Op::kMultimemReduce;
    const std::uint64_t copies = stores ? job.step.bytes * members(machine) : 0;
    if (!job.busy || job.asked < job.step.bytes || job.delivered < copies || job.unsent > 0 ||
        (job.step.op != Op::kMulticastStore && job.answered < job.step.bytes))
        return;
    job.busy = false;
    // The last acknowledgement comes back to the block.
    const std::uint64_t way = stores ? groups_[machine]->to_root().count() * 4 : 0;
    post(Stage::kEnd, index, job.end + way);
}

}  // namespace switchfold::programs
