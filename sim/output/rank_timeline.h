// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/gzip_file.h"

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What PyTorch's profiler says of a collective's kernel.
struct RankCollective {
    std::string_view name;      ///< allreduce, _allgather_base ... as c10d calls it
    std::string_view datatype;  ///< Float, BFloat16 ...
    std::uint64_t in_elements = 0;
    std::uint64_t out_elements = 0;
    std::string group;
    std::span<const std::uint32_t> ranks;
    std::optional<std::uint32_t> peer;  ///< of a send or receive
    /// Of an all-to-all of unequal parts: elements for and from each of the ranks.
    std::vector<std::uint64_t> in_splits;
    std::vector<std::uint64_t> out_splits;
};

/// A kernel or a copy, and the call that launched it.
struct RankSlice {
    std::string name;
    std::string_view category;  ///< kernel, gpu_memcpy, gpu_memset
    std::uint32_t stream = 0;   ///< a number that no other stream of the rank has
    std::uint64_t start_ps = 0;
    std::uint64_t end_ps = 0;
    std::uint64_t correlation = 0;         ///< from 1; no other slice of the rank has it
    std::array<std::uint32_t, 3> grid{};   ///< all 0: not known
    std::array<std::uint32_t, 3> block{};  ///< likewise
    std::uint32_t registers = 0;
    std::uint64_t shared_memory = 0;  ///< bytes of a block
    std::uint64_t bytes = 0;          ///< of a copy
    std::optional<RankCollective> collective;
    std::optional<std::uint64_t> launched_ps;  ///< when the host had launched it
    std::uint32_t waits = 0;  ///< calls before that one that let its stream wait for others
};

/// What a launching call is drawn as, at most, with the waits before it. When it ends is simulated,
/// how long it takes is not: calls that end at the same moment share the time before it.
inline constexpr std::uint64_t kLaunchPs = 1'000'000;

/// The GPU and the rank at the head of a file.
struct RankTimelineHead {
    std::string_view gpu;
    std::uint32_t sms = 0;
    std::uint64_t memory_bytes = 0;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
};

/// Writes one rank of one scenario as torch.profiler writes a rank's trace: what Holistic Trace
/// Analysis, Perfetto and our own reader take as it is. Throws IoError.
class RankTimelineWriter {
public:
    RankTimelineWriter(const std::filesystem::path& path, const RankTimelineHead& head);

    /// Leaves out a slice of no length: viewers draw it as endless.
    void add(const RankSlice& slice);
    /// A thread of the host, from 0, waits for the GPU, by a call of its own number.
    void add_wait(
        std::uint32_t thread, std::uint64_t correlation, std::uint64_t start_ps,
        std::uint64_t end_ps);
    /// A training step, "ProfilerStep#n", by which tools tell iterations apart.
    void add_step(std::uint32_t step, std::uint64_t start_ps, std::uint64_t end_ps);
    void close();

private:
    struct Launch {
        std::uint64_t end_ps = 0;
        std::uint64_t correlation = 0;
        bool copy = false;
        std::uint32_t waits = 0;
        auto operator<=>(const Launch&) const = default;
    };

    void event(const std::string& text);
    void write_launches();
    void write_call(
        std::string_view name, std::uint64_t correlation, std::uint64_t start_ps,
        std::uint64_t end_ps, std::uint32_t thread = 0);

    GzipFile file_;
    std::vector<Launch> launches_;          ///< written last, when all of them are known
    std::vector<std::uint64_t> wait_ends_;  ///< no call begins within a wait
    std::uint64_t last_number_ = 0;         ///< of all slices and calls
    std::uint32_t rank_;
    bool first_ = true;
};

}  // namespace switchfold
