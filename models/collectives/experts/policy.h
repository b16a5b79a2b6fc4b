// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// Library whose kernels move tokens to their experts and back.
enum class ExpertsLibrary : std::uint8_t {
    kAuto,
    kDeepepNormal,
    kDeepepLowLatency,
    kTrtllmTwoSided,
    kInSwitch,
    kNccl,
};
template <>
struct EnumNames<ExpertsLibrary> {
    static constexpr std::array<std::pair<ExpertsLibrary, std::string_view>, 6> kNames{
        {{ExpertsLibrary::kAuto, "auto"},
         {ExpertsLibrary::kDeepepNormal, "deepep_normal"},
         {ExpertsLibrary::kDeepepLowLatency, "deepep_low_latency"},
         {ExpertsLibrary::kTrtllmTwoSided, "trtllm_two_sided"},
         {ExpertsLibrary::kInSwitch, "in_switch"},
         {ExpertsLibrary::kNccl, "nccl"}}};
};

/// A scenario's settings for dispatches and combines of mixture-of-experts layers.
struct ExpertsPolicy {
    ExpertsLibrary library = ExpertsLibrary::kAuto;
    std::uint32_t sms = 0;
    std::uint32_t chunk = 0;
    std::uint32_t group_tables = 0;
    bool operator==(const ExpertsPolicy&) const = default;

    static constexpr auto fields() {
        return list_of(
            field(
                "library", &ExpertsPolicy::library,
                "Whose kernels: deepep_normal (ring buffers at the receivers, a part of the SMs), "
                "deepep_low_latency (straight to the experts, nearly all SMs), trtllm_two_sided "
                "(FIFOs of flagged lines, half of the SMs), in_switch (a study: the switch copies "
                "tokens and adds their results), nccl (sends and receives, a row for each chosen "
                "expert, as an all-to-all with split sizes); auto is deepep_normal."),
            field(
                "sms", &ExpertsPolicy::sms,
                "SMs for communication, one block each. deepep_normal needs an even number, of "
                "which half send; 0 takes the library's default.",
                0U, 1024U),
            field(
                "chunk", &ExpertsPolicy::chunk,
                "deepep_normal: tokens that a sender hands over at once; 0 takes what tuning finds "
                "for large exchanges.",
                0U, 128U),
            field(
                "group_tables", &ExpertsPolicy::group_tables,
                "in_switch: sets of destinations that the switches hold at once; tokens of other "
                "sets are sent as one copy per destination. 0 takes the switches' limit.",
                0U, 1U << 20U));
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
