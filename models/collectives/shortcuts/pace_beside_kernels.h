// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace switchfold {

/// How fast collectives like each other move data beside kernels, as measured. What kernels leave
/// of the memory's bandwidth to packets is all that their pace depends on: a share in (0, 1], the
/// least of the members' GPUs. Pure logic, without a clock.
class PaceBesideKernels {
public:
    /// A stretch of time in which kernels left so much, and the members' memories moved so many
    /// bytes.
    void add(double left, double seconds, double bytes);
    void add(const PaceBesideKernels& other);
    /// Whether no pace is known.
    [[nodiscard]] bool nothing() const;
    /// Relative to the pace that was measured longest; nothing where nothing like it was measured.
    /// More bandwidth never slows a collective, speeds it up by no more than its share, and does
    /// nothing for one that needs much less. `demand`: share of what packets may have without
    /// kernels that such collectives take.
    [[nodiscard]] std::optional<double> at(double left, double demand) const;
    /// The same where nothing like it was measured: what is left limits them, and no pace is beyond
    /// those measured beside more and less.
    [[nodiscard]] double guess(double left, double demand) const;

private:
    static constexpr std::size_t kClasses = 21;
    struct Measured {
        double left = 0;  ///< seconds times share
        double seconds = 0;
        double bytes = 0;
        [[nodiscard]] double share() const { return left / seconds; }
        [[nodiscard]] double pace() const { return bytes / seconds; }
    };
    /// Whether it was measured for long enough to tell a pace.
    [[nodiscard]] bool known(const Measured& measured) const;
    /// Measured neighbours of a share, below (or at it) and above; null: none.
    struct Neighbours {
        const Measured* below = nullptr;
        const Measured* above = nullptr;
    };
    [[nodiscard]] Neighbours neighbours(double left) const;
    /// Relative to what was measured longest.
    [[nodiscard]] double relative(double pace, double left) const;
    [[nodiscard]] const Measured& longest() const;

    std::array<Measured, kClasses> classes_{};  ///< by share
    double seconds_ = 0;                        ///< of all
};

}  // namespace switchfold
