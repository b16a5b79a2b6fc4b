// SPDX-License-Identifier: Apache-2.0
#include "sim/results/collective_records.h"

#include "models/collectives/library.h"

#include <algorithm>

namespace switchfold {

namespace {

template <class Map>
const CollectiveRecord* record_at(const Map& map, const typename Map::key_type& key) {
    const auto at = map.find(key);
    return at == map.end() ? nullptr : at->second;
}

}  // namespace

CollectiveRecords::CollectiveRecords(const Outcome& outcome) {
    for (const CollectiveRecord& record : outcome.collectives)
        if (record.sender == record.receiver)
            of_groups_[{record.group, record.sequence}] = &record;
        else
            transfers_[{record.sender, record.receiver, record.tag, record.sequence}] = &record;
}

const CollectiveRecord* CollectiveRecords::of(std::uint32_t rank, const OperationBody& body) {
    if (const auto* c = std::get_if<CollectiveOperation>(&body))
        return record_at(of_groups_, {c->group, c->sequence});
    if (const auto* send = std::get_if<SendOperation>(&body))
        return transfer({rank, send->peer, send->tag, 0});
    if (const auto* receive = std::get_if<ReceiveOperation>(&body))
        return transfer({receive->peer, rank, receive->tag, 1});
    return nullptr;
}

const CollectiveRecord* CollectiveRecords::transfer(const Channel& end) {
    return record_at(transfers_, {end[0], end[1], end[2], counts_[end]++});
}

Interval waiting_of(const CollectiveRecord& record, const Interval& resident) {
    const bool transfer = record.sender != record.receiver;
    if (transfer ? record.ready.count() > resident.end
                 : record.kind == CollectiveKind::kSendReceive)
        return {};
    return {
        std::max(resident.start, record.stalled.count()),
        std::min(resident.end, record.ready.count())};
}

std::string algorithm_of(const CollectiveRecord& record) {
    if (record.as_traced)
        return "as_traced";
    if (record.sender != record.receiver)
        return "direct";
    return std::string(library_of(record.choice).words(record.choice).algorithm);
}

}  // namespace switchfold
