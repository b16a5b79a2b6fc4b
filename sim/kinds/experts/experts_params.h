// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "sim/config/workload_names.h"
#include "workloads/graph/expert_exchange.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

class WorkloadKind;

template <>
struct EnumNames<ExpertPayload> {
    static constexpr std::array<std::pair<ExpertPayload, std::string_view>, 3> kNames{
        {{ExpertPayload::kBfloat16, "bfloat16"},
         {ExpertPayload::kFloat8, "fp8"},
         {ExpertPayload::kNvfp4, "nvfp4"}}};
};
template <>
struct EnumNames<ExpertRouting> {
    static constexpr std::array<std::pair<ExpertRouting, std::string_view>, 3> kNames{
        {{ExpertRouting::kRandom, "random"},
         {ExpertRouting::kBalanced, "balanced"},
         {ExpertRouting::kSkewed, "skewed"}}};
};

enum class ExpertsOperation : std::uint8_t { kBoth, kDispatch, kCombine };
template <>
struct EnumNames<ExpertsOperation> {
    static constexpr std::array<std::pair<ExpertsOperation, std::string_view>, 3> kNames{
        {{ExpertsOperation::kBoth, "both"},
         {ExpertsOperation::kDispatch, "dispatch"},
         {ExpertsOperation::kCombine, "combine"}}};
};

/// How many rows each rank sends to each other.
struct ExpertSplitsParams {
    std::vector<std::vector<std::uint32_t>> rows;
    std::vector<std::string> trace;
    std::uint32_t call = 0;
    static constexpr auto fields() {
        using S = ExpertSplitsParams;
        return list_of(
            field(
                "rows", &S::rows,
                "A list for each rank: the rows that its tokens send to the experts of each rank, "
                "its own included. A token has a row for each expert that it chooses."),
            field(
                "trace", &S::trace,
                "Instead of rows: files of a trace, relative to the experiment's, of whose "
                "all-to-alls one is the dispatch."),
            field(
                "call", &S::call,
                "trace: number of the all-to-all among those of the first traced rank, from 0."));
    }
    void check(ParamChecker& checker) const;
};

/// The exchanges of a single mixture-of-experts layer.
struct ExpertsWorkloadParams {
    static constexpr std::string_view kType = "experts";
    static constexpr std::uint32_t kMostTokens = 1U << 20U;
    ExpertsOperation operation = ExpertsOperation::kBoth;
    std::optional<std::uint32_t> tokens;
    std::optional<PathOr<ExpertSplitsParams>> splits;
    std::uint32_t hidden = 0;
    std::uint32_t top_k = 0;
    std::uint32_t experts = 0;
    ExpertPayload payload = ExpertPayload::kFloat8;
    ExpertRouting routing = ExpertRouting::kRandom;
    double skew = 1;
    std::uint32_t ranks = 0;
    static constexpr auto fields() {
        using W = ExpertsWorkloadParams;
        return list_of(
            field(
                "operation", &W::operation,
                "dispatch: sends tokens to their experts; combine: returns the experts' results "
                "and adds them; both: one after the other."),
            field(
                "tokens", &W::tokens,
                "Tokens of each rank. With splits, which say how many there are, none.", 1U,
                kMostTokens),
            field(
                "splits", &W::splits,
                "Instead of tokens and routing: rows of each pair of ranks, or the file that "
                "states them."),
            field("hidden", &W::hidden, "Elements of a token.", 1U, 65'536U).required(),
            field("top_k", &W::top_k, "Experts that a token chooses.", 1U, 64U).required(),
            field("experts", &W::experts, "Experts of the layer, over all ranks.", 1U, 65'536U)
                .required(),
            field(
                "payload", &W::payload,
                "Format of a dispatched token: bfloat16, fp8 with a float32 scale per 128 "
                "elements, nvfp4 with a scale byte per 16 elements. A combine carries bfloat16."),
            field(
                "routing", &W::routing,
                "Distribution of the chosen experts: random, uniform; balanced, ranks in turn; "
                "skewed, the first ones more often."),
            field(
                "skew", &W::skew, "skewed: the e-th expert is chosen with weight 1 / (e + 1)^skew.",
                0.0, 10.0),
            field("ranks", &W::ranks, "Participating GPUs, from rank 0; 0: all.", 0U, 65'536U));
    }
    void check(ParamChecker& checker) const;
};

[[nodiscard]] const WorkloadKind& kind_of(const ExpertsWorkloadParams& params);

}  // namespace switchfold
