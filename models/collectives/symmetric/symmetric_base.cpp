// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/symmetric/symmetric_base.h"

#include <fmt/format.h>

namespace switchfold {

SymmetricBase::SymmetricBase(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::unique_ptr<ReductionGroup> group) :
    GroupCollective(environment, spec, listener, std::move(group)),
    params_(environment.params.symmetric),
    unit_(static_cast<std::uint32_t>(environment.params.transfer_unit.count())),
    move_(symmetric_move(spec.kind, spec.choice.algorithm, spec.choice.protocol)),
    share_(spec.share()),
    work_(
        move_, spec.kind, n_, spec.choice.channels, params_.threads,
        spec.kind == CollectiveKind::kAllReduce ? spec.bytes.count() : share_, spec.element_bytes,
        unit_),
    running_(n_, spec.choice.channels),
    end_(n_) {}

void SymmetricBase::join(std::uint32_t position, Time start) {
    make_room(position);
    end_[position] = start;
    const std::uint32_t first = position * spec_.choice.channels;
    for (std::uint32_t block = first; block < first + spec_.choice.channels; ++block)
        scheduler_.at(start, *this, block);
}

bool SymmetricBase::take(std::uint32_t worker, Task& task) {
    const std::uint32_t block = block_of(worker);
    const std::optional<Part> piece = work_.piece(
        position_of_block(block), block % spec_.choice.channels, worker % work_.workers(),
        task.number);
    if (!piece)
        return false;
    task.piece = *piece;
    ++task.number;
    return true;
}

void SymmetricBase::end_block(std::uint32_t block, Time end) {
    const std::uint32_t position = position_of_block(block);
    end_[position] = std::max(end_[position], end);
    if (--running_[position] == 0)
        listener_.on_member_done(position, end_[position]);
}

std::vector<std::string> SymmetricBase::blocked(std::size_t limit) const {
    std::vector<std::string> lines;
    for (std::uint32_t position = 0; position < n_ && lines.size() < limit; ++position)
        if (running_[position] > 0)
            lines.push_back(fmt::format(
                "rank {}: {} of {} blocks have not ended", spec_.ranks[position],
                running_[position], spec_.choice.channels));
    return lines;
}

std::unique_ptr<RunningCollective> make_symmetric_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    MakeCollective* const make =
        spec.choice.protocol == Protocol::kLl ? make_line_collective : make_word_collective;
    return make(environment, spec, listener, refused);
}

}  // namespace switchfold
