// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/programs/data_layout.h"

namespace switchfold::programs {

namespace {

std::uint64_t in_grains(std::uint64_t bytes) {
    return (bytes + kGrain - 1) / kGrain * kGrain;
}

}  // namespace

DataLayout::DataLayout(
    const Program& program, std::uint64_t bytes, std::uint64_t share, std::uint64_t most,
    std::uint32_t bundle) :
    program_(program),
    stride_(program.of_shares() ? share : 0),
    piece_(std::max(most, kGrain)),
    input_(in_grains(bytes)) {
    const std::uint64_t divided = program.of_shares() ? share : bytes;
    const std::uint32_t instances = program.shape.instances / bundle;
    for (std::uint32_t i = 0; i < instances; ++i) {
        Instance& one = instances_.emplace_back();
        one.part = part_of_channel(divided, instances, i, kGrain);
        const std::uint64_t chunks = program.chunks_of_share();
        one.chunk = in_grains((one.part.bytes + chunks - 1) / chunks);
        chunk_ = std::max(chunk_, one.chunk);
    }
    loops_ = std::max<std::uint64_t>(1, (chunk_ + piece_ - 1) / piece_);
    at_once_ =
        static_cast<std::uint32_t>(chunk_ == 0 ? 1 : std::max<std::uint64_t>(1, piece_ / chunk_));
    const std::uint64_t inputs = program.in_place                             ? 0
                                 : program.kind == CollectiveKind::kAllGather ? share
                                                                              : bytes;
    scratch_ = input_ + in_grains(inputs);
}

Part DataLayout::piece(std::uint32_t instance, std::uint32_t chunk, std::uint64_t loop) const {
    const Instance& one = instances_[instance];
    const std::uint64_t begin = std::min(chunk * one.chunk, one.part.bytes);
    const std::uint64_t end = std::min((chunk + 1) * one.chunk, one.part.bytes);
    const std::uint64_t from = std::min(loop * piece_, end - begin);
    return {from, std::min(piece_, end - begin - from)};
}

std::uint64_t
DataLayout::address(std::uint32_t rank, std::uint32_t instance, std::uint32_t place) const {
    const Instance& one = instances_[instance];
    const std::uint32_t each = program_.chunks_of_share();
    const auto in_buffer = [&](std::uint32_t chunk) {
        return chunk / each * stride_ + one.part.begin +
               std::min(chunk % each * one.chunk, one.part.bytes);
    };
    if (place < program_.chunks)
        return in_buffer(place);
    if (place < program_.scratch_at())
        return input_ + in_buffer(place - program_.chunks);
    const std::uint64_t scratch = place - program_.scratch_at();
    return scratch_ + (instance * std::uint64_t{program_.ranks[rank].scratch} + scratch) * chunk_;
}

std::uint64_t DataLayout::memory(std::uint32_t rank) const {
    return scratch_ + instances_.size() * std::uint64_t{program_.ranks[rank].scratch} * chunk_;
}

}  // namespace switchfold::programs
