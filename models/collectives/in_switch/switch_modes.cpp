// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/in_switch/switch_mode.h"
#include "models/collectives/running_collective.h"

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

/// A shipped mode: one entry per word.
class ShippedMode final : public SwitchMode {
public:
    ShippedMode(InSwitchMode word, MakeCollective* by, bool known) :
        word_(word), make_(by), exists_(known) {}
    [[nodiscard]] InSwitchMode word() const { return word_; }
    [[nodiscard]] std::string_view name() const override { return enum_name(word_); }
    [[nodiscard]] bool exists() const override { return exists_; }
    [[nodiscard]] bool folds() const override { return exists_; }
    [[nodiscard]] std::unique_ptr<RunningCollective> make(
        const CollectiveEnvironment& environment, const CollectiveSpec& spec,
        MemberListener& listener, std::string& refused) const override {
        return make_(environment, spec, listener, refused);
    }

private:
    InSwitchMode word_;
    MakeCollective* make_;
    bool exists_;
};

const SwitchMode& shipped_mode(InSwitchMode word) {
    static const std::array<ShippedMode, 3> modes{
        {{InSwitchMode::kPull, make_pull_all_reduce, true},
         {InSwitchMode::kPush, make_push_all_reduce, false},
         {InSwitchMode::kCommand, make_pull_all_reduce, false}}};
    const auto* const at = std::find_if(
        modes.begin(), modes.end(), [&](const ShippedMode& mode) { return mode.word() == word; });
    SWITCHFOLD_CHECK(at != modes.end(), "no switch works by {}", enum_name(word));
    return *at;
}

}  // namespace

const SwitchMode& mode_of(const CollectivePolicy& policy) {
    return policy.own_mode ? *policy.own_mode : shipped_mode(policy.mode);
}

const SwitchMode& mode_of(const NcclConfig& choice) {
    return choice.own_mode != nullptr ? *choice.own_mode : shipped_mode(choice.mode);
}

}  // namespace switchfold
