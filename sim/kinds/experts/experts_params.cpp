// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/experts/experts_params.h"

#include <fmt/format.h>

namespace switchfold {

void ExpertSplitsParams::check(ParamChecker& checker) const {
    if (rows.empty() == trace.empty())
        checker.error(
            "/rows", rows.empty() ? "is missing, and no trace is named; expected one of the two"
                                  : "is given, and a trace beside it; expected one of the two");
    for (std::size_t from = 0; from < rows.size(); ++from)
        if (rows[from].size() != rows.size())
            checker.error(
                fmt::format("/rows/{}", from),
                fmt::format(
                    "has {} numbers, and {} ranks send; expected one for each rank",
                    rows[from].size(), rows.size()));
    if (!rows.empty() && call != 0)
        checker.error("/call", "is of a trace, and rows are given; expected a trace");
}

void ExpertsWorkloadParams::check(ParamChecker& checker) const {
    if (tokens.has_value() == splits.has_value())
        checker.error(
            "/tokens",
            tokens ? "is given, and splits say how many tokens there are; expected one of the two"
                   : "is missing; expected the tokens of each rank, or splits");
    if (splits && routing != ExpertRouting::kRandom)
        checker.error(
            "/routing", fmt::format(
                            "is {}, and splits say where tokens go; expected one of the two",
                            enum_name(routing)));
    constexpr std::uint32_t kFloatScale = 128;
    constexpr std::uint32_t kByteScale = 16;
    if (top_k > experts)
        checker.error(
            "/top_k",
            fmt::format("is {}, and there are {} experts; expected at most those", top_k, experts));
    const std::uint32_t block = payload == ExpertPayload::kFloat8  ? kFloatScale
                                : payload == ExpertPayload::kNvfp4 ? kByteScale
                                                                   : 1;
    if (hidden % block != 0)
        checker.error(
            "/hidden",
            fmt::format(
                "is {}, and {} has a scale for each {} elements; expected a multiple of that",
                hidden, enum_name(payload), block));
}

}  // namespace switchfold
