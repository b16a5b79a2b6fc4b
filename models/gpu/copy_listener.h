// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>

namespace switchfold {

class CopyListener {
public:
    virtual void on_copy_end(std::uint32_t id) = 0;

protected:
    ~CopyListener() = default;
};

/// The part of `time` for `done` of `all` bytes at a constant rate.
[[nodiscard]] inline Time part_of(Time time, Bytes done, Bytes all) {
    if (done == all)
        return time;
    const auto scaled = static_cast<unsigned __int128>(time.count()) * done.count();
    return Time(static_cast<std::uint64_t>(scaled / all.count()));
}

}  // namespace switchfold
