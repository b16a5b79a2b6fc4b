// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace switchfold {

/// FNV-1a hash, 64 bits, the same on every platform; not cryptographic.
class Fnv {
public:
    constexpr Fnv& add(std::string_view bytes) {
        for (const char c : bytes)
            hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
        return *this;
    }
    [[nodiscard]] constexpr std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace switchfold
