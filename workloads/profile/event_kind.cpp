// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/event_kind.h"

#include "core/text.h"
#include "workloads/profile/classify.h"

#include <string>

namespace switchfold {

namespace {

/// Whether the name is that of an autograd node, which runs in the backward pass: "AddmmBackward0",
/// "CudnnConvolutionBackward".
bool is_autograd_node(std::string_view name) {
    return name.starts_with("autograd::engine::evaluate_function") ||
           name == "torch::autograd::AccumulateGrad" || without_number(name).ends_with("Backward");
}

}  // namespace

EventKind kind_of_category(std::string_view category) {
    const std::string name = lower(category);
    if (name == "kernel")
        return EventKind::kKernel;
    if (name == "gpu_memcpy" || name == "memcpy" || name == "gpu_memset" || name == "memset")
        return EventKind::kCopy;
    if (name == "cuda_runtime" || name == "runtime" || name == "cuda_driver" ||
        name == "hip_runtime" || name == "driver")
        return EventKind::kCall;
    const bool of_runtime = name.ends_with("_runtime") || name.ends_with("_driver");
    if (of_runtime && !name.starts_with("cuda") && !name.starts_with("hip"))
        return EventKind::kForeignCall;
    if (name == "cpu_op" || name == "operator")
        return EventKind::kOperator;
    if (name == "user_annotation")
        return EventKind::kAnnotation;
    if (name == "gpu_user_annotation")
        return EventKind::kMirrored;
    if (name == "python_function")
        return EventKind::kPython;
    return EventKind::kUnknown;
}

PhaseMark mark_of_name(std::string_view name) {
    if (name.starts_with("ProfilerStep"))
        return PhaseMark::kStep;
    if (name.starts_with("Optimizer.") || contains(name, "## optimizer ##"))
        return PhaseMark::kOptimizer;
    if (contains(name, "## forward ##") || contains(name, "DistributedDataParallel.forward"))
        return PhaseMark::kForward;
    if (contains(name, "## backward ##") || is_autograd_node(name))
        return PhaseMark::kBackward;
    return PhaseMark::kNothing;
}

CallKind kind_of_call(std::string_view name) {
    // Its grid is in work items.
    if (name == "hipExtModuleLaunchKernel")
        return CallKind::kLaunchInThreads;
    if (contains(name, "GraphLaunch"))
        return CallKind::kLaunchGraph;
    if (contains(name, "StreamWaitEvent"))
        return CallKind::kStreamWait;
    if (contains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy" ||
        name == "hipMemcpyWithStream")
        return CallKind::kSynchronize;
    return CallKind::kLaunch;
}

bool launches_one_kernel(std::string_view name) {
    return contains(name, "LaunchKernel") || contains(name, "LaunchCooperativeKernel");
}

template <class Answer, class Judge>
Answer Meanings::judged(StringInterner::Id text, std::optional<Answer> Known::*kept, Judge judge) {
    if (known_.size() <= text)
        known_.resize(texts_.size());
    std::optional<Answer>& answer = known_[text].*kept;
    if (!answer)
        answer = judge(texts_[text]);
    return *answer;
}

EventKind Meanings::category(StringInterner::Id text) {
    return judged(text, &Known::category, kind_of_category);
}

PhaseMark Meanings::mark(StringInterner::Id name) {
    return judged(name, &Known::mark, mark_of_name);
}

CallKind Meanings::call(StringInterner::Id name) {
    return judged(name, &Known::call, kind_of_call);
}

bool Meanings::launches_kernel(StringInterner::Id call) {
    return judged(call, &Known::launches_kernel, launches_one_kernel);
}

bool Meanings::communicates(StringInterner::Id kernel) {
    return judged(kernel, &Known::communicates, is_communication);
}

}  // namespace switchfold
