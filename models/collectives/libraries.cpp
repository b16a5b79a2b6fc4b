// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/libraries.h"

#include "core/error.h"
#include "models/collectives/library.h"

#include <algorithm>
#include <array>

namespace switchfold {

namespace {

/// One row per library, in the order in which messages list what they know.
constexpr std::array kLibraries{
    nccl_library,        framework_library, nccl_symmetric_library, copy_engine_library,
    tile_stores_library, experts_library,   programs_library,
};

template <class Own>
const CommunicationLibrary& only(Own own, const char* what) {
    const auto all = libraries();
    const auto at = std::find_if(
        all.begin(), all.end(), [&](const CommunicationLibrary* library) { return own(*library); });
    SWITCHFOLD_CHECK(at != all.end(), "no library {}", what);
    return **at;
}

}  // namespace

std::span<const CommunicationLibrary* const> libraries() {
    static const auto kAll = [] {
        std::array<const CommunicationLibrary*, kLibraries.size()> all{};
        std::transform(
            kLibraries.begin(), kLibraries.end(), all.begin(), [](auto* row) { return &row(); });
        return all;
    }();
    return kAll;
}

const CommunicationLibrary& library_for(CollectiveKind kind, const CollectivePolicy& policy) {
    return only(
        [&](const CommunicationLibrary& library) { return library.serves(kind, policy); },
        "serves a policy");
}

const CommunicationLibrary& library_of(const CollectiveConfig& choice) {
    return only(
        [&](const CommunicationLibrary& library) { return library.made(choice); }, "made a choice");
}

std::vector<Algorithm> algorithms_for(CollectiveKind kind, Kernels kernels) {
    std::vector<Algorithm> found;
    for (const CommunicationLibrary* library : libraries())
        for (const Algorithm algorithm : library->algorithms(kind)) {
            CollectivePolicy policy;
            policy.kernels = kernels;
            policy.algorithm = algorithm;
            if (library->serves(kind, policy))
                found.push_back(algorithm);
        }
    return found;
}

ResidentShape kernel_shape(const CollectiveParams& params, const CollectiveSpec& spec) {
    if (spec.given == Time())
        return library_of(spec.choice).kernel(params, spec.choice);
    return {spec.choice.threads, spec.registers_per_thread, spec.shared_memory, Time(), Time()};
}

std::unique_ptr<RunningCollective> make_collective(
    const CollectiveEnvironment& environment, const CollectiveSpec& spec, MemberListener& listener,
    std::string& refused) {
    if (spec.given != Time())
        return make_as_traced(environment, spec, listener, refused);
    return library_of(spec.choice).make(environment, spec, listener, refused);
}

}  // namespace switchfold
