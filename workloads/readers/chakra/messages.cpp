// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/messages.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::chakra {

namespace {
constexpr std::size_t kMessageBlock = 1U << 18U;
constexpr std::uint64_t kLongestMessage = 16U << 20U;
}  // namespace

Messages::Messages(const std::filesystem::path& file, std::uint64_t most) :
    file_(file.string()), input_(file, most), block_(kMessageBlock) {}

void Messages::fail(const char* what) const {
    throw ConfigError(file_, fmt::format("byte {}", offset_), what);
}

bool Messages::fill() {
    if (at_ < size_)
        return true;
    at_ = 0;
    size_ = input_.read(block_);
    return size_ > 0;
}

bool Messages::byte(unsigned char& out) {
    if (!fill())
        return false;
    out = static_cast<unsigned char>(block_[at_++]);
    ++read_;
    return true;
}

bool Messages::next(std::string& message) {
    offset_ = read_;
    message.clear();
    std::uint64_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char part = 0;
        if (!byte(part)) {
            if (shift == 0)
                return false;
            fail("ends within a length; expected a whole file");
        }
        length |= static_cast<std::uint64_t>(part & 0x7fU) << shift;
        if (shift > 28 || length > kLongestMessage)
            fail("is a message of more than 16 MiB; expected one node of a Chakra trace");
        if ((part & 0x80U) == 0)
            break;
    }
    while (message.size() < length) {
        if (!fill())
            fail("ends within a message; expected a whole file");
        const std::size_t count =
            std::min<std::size_t>(size_ - at_, static_cast<std::size_t>(length) - message.size());
        message.append(block_.data() + at_, count);
        at_ += count;
        read_ += count;
    }
    return true;
}

}  // namespace switchfold::chakra
