// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/input/lines.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {
constexpr std::size_t kLongest = 16U << 20U;
constexpr std::size_t kReadAtOnce = 1U << 18U;
}  // namespace

LineReader::LineReader(const std::filesystem::path& path, std::uint64_t most) :
    path_(path), source_(path, most), block_(kReadAtOnce) {}

bool LineReader::next(std::string& line) {
    line.clear();
    bool any = false;
    for (;;) {
        if (at_ == size_) {
            at_ = 0;
            size_ = source_.read(block_);
            if (size_ == 0)
                break;
        }
        any = true;
        const auto from = block_.begin() + static_cast<std::ptrdiff_t>(at_);
        const auto end = block_.begin() + static_cast<std::ptrdiff_t>(size_);
        const auto found = std::find(from, end, '\n');
        line.append(from, found);
        at_ = static_cast<std::size_t>(found - block_.begin());
        if (line.size() > kLongest)
            throw ConfigError(
                path_.string(), fmt::format("line {}", number_ + 1),
                "does not end; expected at most 16 MiB");
        if (found != end) {
            ++at_;
            break;
        }
    }
    if (any)
        ++number_;
    return any;
}

}  // namespace switchfold
