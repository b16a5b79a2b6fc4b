// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace switchfold {

/// Uses of a GPU's memory in training. A class's value is its index in this list.
enum class MemoryClass : std::uint8_t {
    kWeights,
    kMoments,
    kGradients,
    kActivations,
    kWorkspace,
    kStaging,
    kBuckets,
};

struct MemoryClassText {
    MemoryClass value;
    std::string_view name;
    std::string_view meaning;
};

inline constexpr std::array kMemoryClasses{
    MemoryClassText{MemoryClass::kWeights, "weights", "weights, in all versions that are kept"},
    MemoryClassText{
        MemoryClass::kMoments, "moments",
        "the optimizer's moments and its 32-bit copy of 16-bit weights"},
    MemoryClassText{
        MemoryClass::kGradients, "gradients", "gradients, in the type in which they travel"},
    MemoryClassText{
        MemoryClass::kActivations, "activations",
        "what forward passes leave behind, until the passes that need it have ended"},
    MemoryClassText{
        MemoryClass::kWorkspace, "workspace",
        "what backward computes again, gradients of activations where memory is planned, and "
        "copies "
        "of weights that an update needs"},
    MemoryClassText{
        MemoryClass::kStaging, "staging", "room for what comes from the host or goes there"},
    MemoryClassText{
        MemoryClass::kBuckets, "buckets",
        "buffers of gradients that travel, where they are held apart from the gradients"},
};

static_assert(
    [] {
        for (std::size_t i = 0; i < kMemoryClasses.size(); ++i)
            if (kMemoryClasses[i].value != static_cast<MemoryClass>(i))
                return false;
        return true;
    }(),
    "a class of memory is at its place in the list");

[[nodiscard]] constexpr std::string_view to_string(MemoryClass what) {
    return kMemoryClasses[static_cast<std::size_t>(what)].name;
}

/// Bytes of each class.
class MemoryBytes {
public:
    [[nodiscard]] double& operator[](MemoryClass what) {
        return bytes_[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] double operator[](MemoryClass what) const {
        return bytes_[static_cast<std::size_t>(what)];
    }
    [[nodiscard]] double all() const { return std::accumulate(bytes_.begin(), bytes_.end(), 0.0); }
    bool operator==(const MemoryBytes&) const = default;

private:
    std::array<double, kMemoryClasses.size()> bytes_{};
};

}  // namespace switchfold
