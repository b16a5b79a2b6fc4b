// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/in_switch/aggregation.h"

#include <algorithm>
#include <utility>

namespace switchfold {

Aggregation::Aggregation(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec,
    std::vector<std::unique_ptr<ReductionGroup>> groups, const NvlsChunks& pieces,
    const StageWarps& warps, Machines machines, StageBuffers& buffers,
    SwitchStagesListener& listener) :
    params_(environment.params),
    scheduler_(environment.fabric.scheduler()),
    ports_(environment.ports),
    ranks_(spec.ranks),
    pieces_(pieces),
    warps_(warps),
    machines_(std::move(machines)),
    listener_(listener),
    heads_(spec.ranks.size() * pieces.channels()) {
    for (std::uint32_t rail = 0; rail < groups.size(); ++rail) {
        std::vector<std::uint32_t> members;
        for (const auto& machine : spec.layout.machines)
            members.push_back(machine[rail]);
        RailListener& self = *this;
        rails_.push_back(std::make_unique<RailReduction>(
            environment, spec, std::move(groups[rail]),
            RailReduction::Rail{rail, std::move(members)}, pieces, buffers, self));
    }
}

std::uint64_t Aggregation::loops_of(std::uint32_t position, std::uint32_t channel) const {
    // A head may have nothing of the last loop.
    const std::uint64_t loops = pieces_.loops(channel);
    const bool idle =
        loops > 0 && pieces_.piece(channel, loops - 1, machines_.place[position]).bytes == 0;
    return loops - (idle ? 1 : 0);
}

void Aggregation::post(
    Work work, std::uint32_t position, std::uint32_t channel, std::uint64_t when) {
    const std::uint64_t tag =
        static_cast<std::uint64_t>(work) << 60U | std::uint64_t{channel} << 32U | position;
    scheduler_.at(std::max(Time(when), scheduler_.now()), *this, tag);
}

void Aggregation::join(std::uint32_t position, Time start) {
    for (std::uint32_t c = 0; c < pieces_.channels(); ++c)
        post(Work::kBegin, position, c, start.count());
}

void Aggregation::on_event(std::uint64_t tag) {
    if (abandoned_)
        return;
    const auto channel = static_cast<std::uint32_t>(tag >> 32U) & 0xFFFFU;
    const auto position = static_cast<std::uint32_t>(tag);
    if (static_cast<Work>(tag >> 60U) == Work::kBegin)
        try_reduce(position, channel);
    else
        store_on(position, channel);
}

void Aggregation::try_reduce(std::uint32_t position, std::uint32_t c) {
    Head& h = head(position, c);
    const std::uint32_t member = machines_.place[position];
    const bool busy = h.begun > 0 && h.taken < pieces_.piece(c, h.begun - 1, member).bytes;
    // The buffer to the network holds as many chunks as any connection's.
    if (busy || h.begun == loops_of(position, c) || h.begun - h.final >= params_.steps)
        return;
    ++h.begun;
    h.taken = 0;
    stages_of(position).reduce(member, c);
}

void Aggregation::on_progress(std::uint32_t position, std::uint32_t c) {
    take(position, c);
    try_store(position, c);
}

void Aggregation::take(std::uint32_t position, std::uint32_t c) {
    Head& h = head(position, c);
    if (h.begun == 0)
        return;
    const std::uint32_t member = machines_.place[position];
    const std::uint64_t loop = h.begun - 1;
    const std::uint64_t all = pieces_.piece(c, loop, member).bytes;
    const std::uint64_t there = std::min(all, stages_of(position).reduced(member, c, loop));
    if (h.taken == all || there == h.taken)
        return;
    const std::uint64_t more = there - h.taken;
    h.taken = there;
    const Time written = ports_[ranks_[position]]->access(0, more);
    stages_of(position).take(member, c, more);
    if (h.taken < all)
        return;
    const Time posted = std::max(written, scheduler_.now()) + params_.simple.slice_overhead;
    rails_[member]->add(machines_.layout->machine_of[position], c, loop, posted.count());
    post(Work::kBegin, position, c, posted.count());
}

void Aggregation::on_final(
    std::uint32_t machine, std::uint32_t rail, std::uint32_t c, std::uint64_t when) {
    const std::uint32_t position = machines_.layout->machines[machine][rail];
    Head& h = head(position, c);
    ++h.final;
    h.final_at.push_back(when);
    try_store(position, c);
    try_reduce(position, c);
}

void Aggregation::try_store(std::uint32_t position, std::uint32_t c) {
    Head& h = head(position, c);
    if (h.storing || h.spread == h.final)
        return;
    const std::uint64_t ready = stages_of(position).can_store(machines_.place[position], c);
    if (ready == SwitchStages::kNotYet)
        return;
    h.storing = true;
    post(Work::kStore, position, c, std::max({ready, h.free_at, h.final_at.front()}));
}

void Aggregation::store_on(std::uint32_t position, std::uint32_t c) {
    Head& h = head(position, c);
    const std::uint32_t member = machines_.place[position];
    const std::uint64_t left = pieces_.piece(c, h.spread, member).bytes - h.stored;
    const std::uint64_t bytes = std::min<std::uint64_t>(warps_.spread_window, left);
    const Time read = ports_[ranks_[position]]->access(bytes, 0);
    stages_of(position).store(member, c, h.spread, h.stored, bytes);
    h.stored += bytes;
    h.storing = false;
    const Time round = copy_round_time(params_, Bytes(warps_.spread_window));
    h.free_at = std::max(read, scheduler_.now() + round).count();
    if (bytes == left) {
        h.final_at.pop_front();
        h.stored = 0;
        ++h.spread;
    }
    try_store(position, c);
}

void Aggregation::abandon() {
    abandoned_ = true;
    for (const auto& rail : rails_)
        rail->abandon();
}

bool Aggregation::uses(const Link& link) const {
    return std::any_of(
        rails_.begin(), rails_.end(), [&](const auto& rail) { return rail->uses(link); });
}

std::vector<std::string> Aggregation::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (const auto& rail : rails_)
        for (std::string& line : rail->blocked(limit - std::min(limit, lines.size())))
            lines.push_back(std::move(line));
    return lines;
}

}  // namespace switchfold
