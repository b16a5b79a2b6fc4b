// SPDX-License-Identifier: Apache-2.0
#include "interconnect/reduction_unit.h"

#include "sim/core/error.h"

#include <algorithm>

namespace switchfold {

ReductionUnit::ReductionUnit(const ReductionUnitParams& params, std::uint32_t lanes) :
    params_(params),
    entries_(std::uint64_t{params.entries} * lanes),
    buffer_((params.buffer * lanes).count()),
    adder_rate_(params.adder_rate * lanes) {}

std::uint32_t ReductionUnit::lines(std::uint32_t payload) const {
    const auto line = static_cast<std::uint32_t>(params_.line.count());
    return std::max(1U, (payload + line - 1) / line);
}

std::optional<std::uint32_t> ReductionUnit::open(const Packet& request, std::uint32_t members) {
    const std::uint32_t needed = lines(request.payload);
    // A transfer unit larger than the whole table may pass alone; smaller ones wait for room.
    const bool alone = entries_used_ == 0;
    if (!alone && (entries_used_ + needed > entries_ || buffer_used_ + request.payload > buffer_))
        return std::nullopt;
    std::uint32_t index = 0;
    if (free_.empty()) {
        index = static_cast<std::uint32_t>(sessions_.size());
        sessions_.emplace_back();
    } else {
        index = free_.back();
        free_.pop_back();
    }
    Session& session = sessions_[index];
    session.request = request;
    session.missing = members;
    session.open = true;
    session.values.clear();
    entries_used_ += needed;
    buffer_used_ += request.payload;
    statistics_.peak_entries = std::max<std::uint64_t>(statistics_.peak_entries, entries_used_);
    return index;
}

std::optional<Time> ReductionUnit::add(std::uint32_t index, std::uint32_t payload, Time now) {
    Session& session = sessions_[index];
    SWITCHFOLD_CHECK(session.open && session.missing > 0, "an answer too many for a reduction");
    adder_free_ = std::max(adder_free_, now) + serialization_time(Bytes(payload), adder_rate_);
    statistics_.bytes_in += payload;
    if (--session.missing > 0)
        return std::nullopt;
    return adder_free_ + params_.latency;
}

void ReductionUnit::close(std::uint32_t index) {
    Session& session = sessions_[index];
    SWITCHFOLD_CHECK(session.open, "a reduction closed twice");
    session.open = false;
    entries_used_ -= lines(session.request.payload);
    buffer_used_ -= session.request.payload;
    ++statistics_.reductions;
    statistics_.bytes_out += session.request.payload;
    free_.push_back(index);
}

}  // namespace switchfold
