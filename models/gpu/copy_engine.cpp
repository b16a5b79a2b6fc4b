// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/copy_engine.h"

#include <algorithm>

namespace switchfold {

CopyEngine::CopyEngine(
    const sc_core::sc_module_name& name,
    const CopyParams& params,
    MemorySystem& memory,
    Scheduler& scheduler) :
    sc_module(name),
    params_(params),
    memory_(memory),
    clock_(scheduler),
    running_(params.engines) {}

void CopyEngine::start(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) {
    const Waiting waiting{id, copy, &listener};
    const bool free = std::any_of(
        running_.begin(), running_.end(), [](const Waiting& w) { return w.listener == nullptr; });
    if (free)
        begin(waiting);
    else
        queue_.push_back(waiting);
}

void CopyEngine::begin(const Waiting& waiting) {
    const auto slot = std::find_if(
        running_.begin(), running_.end(), [](const Waiting& w) { return w.listener == nullptr; });
    *slot = waiting;
    const std::uint64_t bytes = waiting.copy.bytes.count();
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    bool host = false;
    switch (waiting.copy.kind) {
    case CopyKind::kHostToDevice:
        written = bytes;
        host = true;
        break;
    case CopyKind::kDeviceToHost:
        read = bytes;
        host = true;
        break;
    case CopyKind::kMemset:
        written = bytes;
        break;
    case CopyKind::kDeviceToDevice:
    case CopyKind::kPeer:
        read = bytes;
        written = bytes;
        break;
    }
    Time end = clock_.now() + waiting.copy.isolated;
    const Time served = clock_.of(memory_.access(read, written));
    if (waiting.copy.isolated.count() == 0) {
        end = std::max(end, served);
        if (host)
            end = std::max(
                end, clock_.now() + serialization_time(waiting.copy.bytes, params_.host_bandwidth));
    }
    clock_.at(end, *this, static_cast<std::uint64_t>(slot - running_.begin()));
}

void CopyEngine::on_event(std::uint64_t tag) {
    const Waiting ended = running_[tag];
    running_[tag].listener = nullptr;
    if (!queue_.empty()) {
        const Waiting next = queue_.front();
        queue_.pop_front();
        begin(next);
    }
    ended.listener->on_copy_end(ended.id);
}

}  // namespace switchfold
