// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/texts.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// What an event's category says that it is; profilers' versions spell them in several ways.
enum class EventKind : std::uint8_t {
    kKernel,
    kCopy,
    kCall,
    kOperator,
    kAnnotation,
    kMirrored,  ///< an annotation once more, on the GPU
    kPython,
    kUnknown,
};
[[nodiscard]] EventKind kind_of_category(std::string_view category);

/// What an operator's or a range's name says of the time that it spans.
enum class PhaseMark : std::uint8_t { kNothing, kStep, kForward, kBackward, kOptimizer };
[[nodiscard]] PhaseMark mark_of_name(std::string_view name);

/// What a runtime or driver call does. kLaunchInThreads: its grid is in threads, not in blocks.
enum class CallKind : std::uint8_t { kLaunch, kLaunchInThreads, kStreamWait, kSynchronize };
[[nodiscard]] CallKind kind_of_call(std::string_view name);

/// What texts mean, looked at once each: traces repeat few of them many times.
class Meanings {
public:
    /// The table must last as long, and may grow.
    explicit Meanings(const Texts& texts) : texts_(texts) {}
    [[nodiscard]] EventKind category(Texts::Id text);
    [[nodiscard]] PhaseMark mark(Texts::Id name);
    [[nodiscard]] CallKind call(Texts::Id name);
    /// Whether a kernel of that name is NCCL's or the like.
    [[nodiscard]] bool communicates(Texts::Id kernel);

private:
    struct Known {
        std::optional<EventKind> category;
        std::optional<PhaseMark> mark;
        std::optional<CallKind> call;
        std::optional<bool> communicates;
    };
    /// What `judge` says of the text, asked once.
    template <class Answer, class Judge>
    Answer judged(Texts::Id text, std::optional<Answer> Known::*kept, Judge judge);

    const Texts& texts_;
    std::vector<Known> known_;  ///< by text
};

}  // namespace switchfold
