// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm_array.h"

#include "core/error.h"

#include <algorithm>
#include <limits>

namespace switchfold {

namespace {
// Registers are allocated per warp in units of 256 (CUDA occupancy calculator, compute capability
// 3.0 and later).
constexpr std::uint32_t kRegisterGrain = 256;
}  // namespace

SmArray::SmArray(const SmParams& params, std::uint32_t sms) :
    params_(params),
    empty_{
        params.threads, params.registers, static_cast<std::uint32_t>(params.shared_memory.count()),
        params.blocks},
    free_(sms, empty_),
    domains_(std::max(1U, sms / params.sharing_carveout)),
    fits_(sms) {}

SmArray::Need SmArray::need(const BlockShape& shape) const {
    const std::uint32_t warps = (std::max(shape.threads, 1U) + params_.warp - 1) / params_.warp;
    const std::uint32_t per_warp =
        (shape.registers_per_thread * params_.warp + kRegisterGrain - 1) / kRegisterGrain *
        kRegisterGrain;
    return {
        warps * params_.warp, warps * per_warp,
        static_cast<std::uint32_t>((shape.shared_memory + params_.reserved_shared_memory).count())};
}

std::uint32_t SmArray::fit(const Free& free, const Need& need) {
    std::uint32_t count = std::min(free.blocks, free.threads / need.threads);
    if (need.registers > 0)
        count = std::min(count, free.registers / need.registers);
    if (need.shared_memory > 0)
        count = std::min(count, free.shared_memory / need.shared_memory);
    return count;
}

std::uint32_t SmArray::limit(const BlockShape& shape) const {
    return fit(empty_, need(shape));
}

std::uint32_t SmArray::carveout(const Need& need) const {
    if (params_.carveouts.empty())
        return empty_.shared_memory;
    const std::uint64_t wanted = std::uint64_t{need.shared_memory} * fit(empty_, need);
    for (const Bytes size : params_.carveouts)
        if (size.count() >= wanted)
            return static_cast<std::uint32_t>(size.count());
    return empty_.shared_memory;
}

std::uint32_t SmArray::room(std::size_t sm, const Need& need, std::uint32_t carveout) const {
    const Domain& own = domains_[domain(sm)];
    Free free = free_[sm];
    if (own.busy > 0) {
        if (own.carveout < carveout)
            return 0;
        free.shared_memory -= empty_.shared_memory - own.carveout;
    }
    return fit(free, need);
}

void SmArray::take(std::size_t sm, const Need& need, std::uint32_t carveout, std::uint32_t blocks) {
    Free& free = free_[sm];
    if (free == empty_) {
        ++busy_;
        Domain& own = domains_[domain(sm)];
        if (own.busy++ == 0)
            own.carveout = carveout;
    }
    free.threads -= need.threads * blocks;
    free.registers -= need.registers * blocks;
    free.shared_memory -= need.shared_memory * blocks;
    free.blocks -= blocks;
}

Placement SmArray::place(const BlockShape& shape, std::uint64_t blocks) {
    const Need one = need(shape);
    const std::uint32_t split = carveout(one);
    Placement placement;
    std::uint64_t all = 0;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < free_.size(); ++i) {
        // Adjacent SMs are usually equal: divide only if they are not.
        const bool alike =
            i > 0 && free_[i] == free_[i - 1] && domains_[domain(i)] == domains_[domain(i - 1)];
        fits_[i] = alike ? fits_[i - 1] : static_cast<std::uint16_t>(room(i, one, split));
        all += fits_[i];
        most = std::max<std::uint32_t>(most, fits_[i]);
    }
    std::uint64_t wanted = std::min(blocks, all);
    if (wanted == 0)
        return placement;
    ++changes_;
    placement.blocks = wanted;
    placement.on_sm.assign(free_.size(), 0);
    // Fills from the emptiest level down, one block per SM and pass.
    for (std::uint32_t level = most; level > 0 && wanted > 0; --level)
        for (std::size_t i = 0; i < free_.size() && wanted > 0; ++i)
            if (fits_[i] >= level) {
                ++placement.on_sm[i];
                --wanted;
            }
    for (std::size_t i = 0; i < free_.size(); ++i)
        if (placement.on_sm[i] > 0)
            take(i, one, split, placement.on_sm[i]);
    return placement;
}

void SmArray::release(const BlockShape& shape, const Placement& placement) {
    const Need one = need(shape);
    ++changes_;
    for (std::size_t i = 0; i < placement.on_sm.size(); ++i) {
        const std::uint32_t blocks = placement.on_sm[i];
        if (blocks == 0)
            continue;
        Free& free = free_[i];
        free.threads += one.threads * blocks;
        free.registers += one.registers * blocks;
        free.shared_memory += one.shared_memory * blocks;
        free.blocks += blocks;
        SWITCHFOLD_CHECK(free.threads <= empty_.threads, "more threads released than taken");
        if (free == empty_) {
            --busy_;
            --domains_[domain(i)].busy;
        }
    }
}

Placement take_back(Placement& placement, std::uint64_t blocks) {
    Placement out;
    out.on_sm.assign(placement.on_sm.size(), 0);
    for (std::size_t i = placement.on_sm.size(); i-- > 0 && out.blocks < blocks;) {
        const auto here = static_cast<std::uint16_t>(
            std::min<std::uint64_t>(placement.on_sm[i], blocks - out.blocks));
        placement.on_sm[i] = static_cast<std::uint16_t>(placement.on_sm[i] - here);
        out.on_sm[i] = here;
        out.blocks += here;
    }
    placement.blocks -= out.blocks;
    return out;
}

}  // namespace switchfold
