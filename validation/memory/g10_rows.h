// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

/// Rows "g10_...": steps that G10's authors simulated from measured kernels. Those whose kernels
/// are at hand are answered for no copies at all and for FlashNeuron.
class G10Rows {
public:
    /// `find_profile`: the file reference/training/profiles/NAME, if available.
    explicit G10Rows(FindTable find_profile) : find_profile_(std::move(find_profile)) {}

    /// Fills in the case. \returns why it cannot be compared; empty if it can.
    [[nodiscard]] std::string answer(const MemoryRow& row, Case& c);
    void verdicts(SuiteResult& result) const;

private:
    /// A step without copies and by FlashNeuron, in the units of the rows, by quantity.
    struct Step {
        std::string missing;  ///< what is missing for it, then the rest is empty
        double ideal = 0;     ///< milliseconds
        std::map<std::string, double, std::less<>> flash_neuron;
    };
    struct Profile {
        std::string_view network;  ///< of the rows
        std::uint32_t batch = 0;
        std::string_view file;
        std::uint32_t weights_below = 0;
    };
    static constexpr std::array kProfiles{
        Profile{"BERT base", 256, "bert_base", 210}, Profile{"ViT base", 768, "vit_base", 184}};

    [[nodiscard]] const Step& step_of(const Profile& profile);
    [[nodiscard]] Step read(const Profile& profile) const;

    FindTable find_profile_;
    std::map<std::string_view, Step> steps_;  ///< by file
    std::size_t ratios_ = 0;
    double worst_ = 0;  ///< difference of iterations, as a share of the kernels
};

}  // namespace switchfold::validation
