// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/experts/sent_rows.h"

#include "models/collectives/experts/routing.h"

#include <vector>

namespace switchfold {

namespace {

std::uint64_t row_bytes(const ExpertExchange& exchange, CollectiveKind kind) {
    const bool combine = kind == CollectiveKind::kMoeCombine;
    return token_bytes(combine ? ExpertPayload::kBfloat16 : exchange.payload, exchange.hidden)
        .all();
}

}  // namespace

UnevenExchange sent_rows(const ExpertExchange& exchange, std::uint32_t ranks, CollectiveKind kind) {
    const std::vector<std::uint32_t> rows = rows_of_ranks(exchange, ranks);
    const std::uint64_t bytes = row_bytes(exchange, kind);
    UnevenExchange sent = UnevenExchange::of(ranks);
    for (std::uint32_t from = 0; from < ranks; ++from)
        for (std::uint32_t to = 0; to < ranks; ++to)
            sent.at(from, to) = bytes * (kind == CollectiveKind::kMoeCombine
                                             ? rows[std::size_t{to} * ranks + from]
                                             : rows[std::size_t{from} * ranks + to]);
    return sent;
}

Datatype element_of_row(const ExpertExchange& exchange, CollectiveKind kind) {
    const std::uint64_t bytes = row_bytes(exchange, kind);
    if (bytes % size_of(Datatype::kFloat32).count() == 0)
        return Datatype::kFloat32;
    return bytes % size_of(Datatype::kBfloat16).count() == 0 ? Datatype::kBfloat16
                                                             : Datatype::kUint8;
}

}  // namespace switchfold
