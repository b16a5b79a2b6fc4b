// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/copy_engine.h"

#include <algorithm>

namespace switchfold {

namespace {

// Long enough that few copies need more than one piece, short enough that other requests wait only
// about a microsecond.
constexpr Bytes kPiece = mebibytes(1);

}  // namespace

CopyEngine::CopyEngine(
    const sc_core::sc_module_name& name, const CopyParams& params, MemorySystem& memory,
    Scheduler& scheduler) :
    sc_module(name),
    params_(params),
    memory_(memory),
    scheduler_(scheduler),
    clock_(scheduler),
    running_(params.engines) {}

void CopyEngine::attach(Fabric& fabric, std::uint32_t rank) {
    host_ = std::make_unique<HostCopies>(params_, memory_, fabric, rank, scheduler_);
}

void CopyEngine::start(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) {
    if (host_ && host_->takes(copy))
        return host_->start(id, copy, listener);
    const Waiting waiting{id, copy, &listener};
    const auto free = std::find_if(
        running_.begin(), running_.end(), [](const Running& r) { return r.listener == nullptr; });
    if (free != running_.end())
        begin(static_cast<std::size_t>(free - running_.begin()), waiting);
    else
        queue_.push_back(waiting);
}

void CopyEngine::begin(std::size_t engine, const Waiting& waiting) {
    running_[engine] = {waiting, clock_.now(), Bytes(0)};
    move_piece(engine);
}

void CopyEngine::move_piece(std::size_t engine) {
    Running& running = running_[engine];
    const CopyOperation& copy = running.copy;
    const Bytes piece = std::min(copy.bytes - running.moved, kPiece);
    running.moved += piece;
    bool reads = true;
    bool writes = true;
    switch (copy.kind) {
    case CopyKind::kHostToDevice:
    case CopyKind::kMemset:
        reads = false;
        break;
    case CopyKind::kDeviceToHost:
        writes = false;
        break;
    case CopyKind::kDeviceToDevice:
        break;
    }
    const Time served =
        clock_.of(memory_.access(reads ? piece.count() : 0, writes ? piece.count() : 0));
    Time next = running.begin;
    if (copy.isolated.count() > 0) {
        next += part_of(copy.isolated, running.moved, copy.bytes);
    } else {
        if (copy.kind == CopyKind::kHostToDevice)
            next += serialization_time(running.moved, params_.host_bandwidth);
        if (copy.kind == CopyKind::kDeviceToHost)
            next += serialization_time(running.moved, params_.rate_to_host());
        next = std::max(next, served);
    }
    clock_.at(next, *this, engine);
}

void CopyEngine::on_event(std::uint64_t tag) {
    const auto engine = static_cast<std::size_t>(tag);
    const Waiting ended = running_[engine];
    if (running_[engine].moved < ended.copy.bytes)
        return move_piece(engine);
    running_[engine].listener = nullptr;
    if (!queue_.empty()) {
        const Waiting next = queue_.front();
        queue_.pop_front();
        begin(engine, next);
    }
    ended.listener->on_copy_end(ended.id);
}

}  // namespace switchfold
