// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold::intervals {

/// What makes two measurements alike. Empty words are unknown, and cost half of what other words
/// do.
struct Likeness {
    /// "collective", "kernel", "overlap" (of which residuals are of the share of an effect),
    /// "step", "change". Only measurements of one kind are alike.
    std::string kind;
    /// Of collectives all_reduce, all_gather, send_receive, ...; of kernels product, attention,
    /// ...; of steps and changes what was timed.
    std::string operation;
    /// Of collectives as in results (ring, tree, in_switch, ...); empty where there is none.
    std::string algorithm;
    std::string generation;  ///< generation_of() the GPU
    std::string fabric;      ///< of a machine: switched, full_mesh, direct, pcie, ...
    double bytes = 0;        ///< 0 where it does not apply, as for kernels
    double us = 0;           ///< simulated time of a kernel alone; 0 of others
    std::uint32_t ranks = 1;
    std::uint32_t machines = 1;
    bool operator==(const Likeness&) const = default;

    static constexpr auto fields() {
        using L = Likeness;
        return list_of(
            member("kind", &L::kind), member("operation", &L::operation),
            member("algorithm", &L::algorithm), member("generation", &L::generation),
            member("fabric", &L::fabric), member("bytes", &L::bytes), member("us", &L::us),
            member("ranks", &L::ranks), member("machines", &L::machines));
    }
};

/// Architecture of a GPU: "Hopper" of "NVIDIA H100 SXM5 80 GB", "H200", "GH200" and "H20"; "CDNA 3"
/// of "MI300X". Empty if the name tells none.
[[nodiscard]] std::string_view generation_of(std::string_view gpu);

/// How unlike two measurements of one kind are, as a sum over what differs:
///   operation, algorithm            1 each
///   fabric                          2
///   generation                      0.5 a step between NVIDIA's; 2 between makers
///   bytes, us, ranks, machines      |ln of their ratio| / ln 16, at most 2 each
///   one machine or several          2
/// Infinite between kinds.
[[nodiscard]] double distance(const Likeness& a, const Likeness& b);

/// "all_reduce by ring, 64 KiB, 8 ranks of Hopper on 1 machine".
[[nodiscard]] std::string to_text(const Likeness& likeness);

}  // namespace switchfold::intervals
