// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/string_interner.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// Kind of an event, from its category, which profiler versions spell differently.
enum class EventKind : std::uint8_t {
    kKernel,
    kCopy,
    kCall,
    kForeignCall,  ///< of another runtime than CUDA's and HIP's ("xpu_runtime")
    kOperator,
    kAnnotation,
    kMirrored,  ///< copy of a CPU annotation on the GPU's timeline
    kPython,
    kUnknown,
};
[[nodiscard]] EventKind kind_of_category(std::string_view category);

/// What the name of an operator or range says about its time span.
enum class PhaseMark : std::uint8_t { kNothing, kStep, kForward, kBackward, kOptimizer };
[[nodiscard]] PhaseMark mark_of_name(std::string_view name);

/// What a runtime or driver call does. kLaunchInThreads: its grid is in threads, not in blocks.
enum class CallKind : std::uint8_t {
    kLaunch,
    kLaunchInThreads,
    kLaunchGraph,
    kStreamWait,
    kSynchronize,
};
[[nodiscard]] CallKind kind_of_call(std::string_view name);
/// Whether a runtime or driver call launches exactly one kernel ("cudaLaunchKernel").
[[nodiscard]] bool launches_one_kernel(std::string_view name);

/// Caches the meaning of texts: traces repeat few texts many times.
class Meanings {
public:
    /// `texts` must outlive this object and may grow.
    explicit Meanings(const StringInterner& texts) : texts_(texts) {}
    [[nodiscard]] EventKind category(StringInterner::Id text);
    [[nodiscard]] PhaseMark mark(StringInterner::Id name);
    [[nodiscard]] CallKind call(StringInterner::Id name);
    /// Whether a kernel of this name belongs to NCCL or another communication library.
    [[nodiscard]] bool communicates(StringInterner::Id kernel);
    /// Whether a runtime or driver call launches one kernel.
    [[nodiscard]] bool launches_kernel(StringInterner::Id call);

private:
    struct Known {
        std::optional<EventKind> category;
        std::optional<PhaseMark> mark;
        std::optional<CallKind> call;
        std::optional<bool> communicates;
        std::optional<bool> launches_kernel;
    };
    /// The result of `judge` for the text, computed once.
    template <class Answer, class Judge>
    Answer judged(StringInterner::Id text, std::optional<Answer> Known::*kept, Judge judge);

    const StringInterner& texts_;
    std::vector<Known> known_;  ///< by text
};

}  // namespace switchfold
