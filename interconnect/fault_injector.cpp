// SPDX-License-Identifier: Apache-2.0
#include "interconnect/fault_injector.h"

#include "core/error.h"

#include <string>
#include <utility>
#include <variant>

namespace switchfold {

FaultInjector::FaultInjector(Fabric& fabric, std::vector<FaultParams> faults, std::uint64_t seed) :
    fabric_(fabric), faults_(std::move(faults)), seed_(seed) {
    const Time now = fabric_.scheduler().now();
    for (const auto& [index, why] : check_faults(fabric_.topology(), faults_))
        throw SimulationError(fabric_.name(), now, "a fault " + why);
    for (std::size_t i = 0; i < faults_.size(); ++i) {
        const Time at = std::visit([](const auto& f) { return f.at; }, faults_[i]);
        if (at == Time())
            apply(faults_[i]);
        else
            fabric_.scheduler().at(at, *this, i);
    }
}

void FaultInjector::on_event(std::uint64_t tag) {
    apply(faults_[tag]);
}

void FaultInjector::apply(const FaultParams& fault) {
    const std::string& name = component_of(fault);
    if (std::holds_alternative<ReductionTimeoutFault>(fault)) {
        fabric_.fail_reductions(name);
        return;
    }
    for (const std::uint32_t edge : edges_named(fabric_.topology(), name)) {
        if (std::holds_alternative<LinkDownFault>(fault)) {
            fabric_.take_down(edge);
            continue;
        }
        for (const std::uint32_t hop : {2 * edge, 2 * edge + 1}) {
            Link& link = *fabric_.links()[hop];
            if (const auto* degraded = std::get_if<LinkDegradedFault>(&fault))
                link.degrade(degraded->bandwidth_ppm);
            else if (const auto* errors = std::get_if<BitErrorsFault>(&fault))
                link.inject_errors(errors->bit_error_rate, seed_);
        }
    }
}

}  // namespace switchfold
