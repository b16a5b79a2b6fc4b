// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/profiled_layers.h"

#include "core/csv.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/layer_work.h"
#include "validation/harness/csv_numbers.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::validation {

namespace {

struct Profile {
    std::string_view network;
    std::uint32_t batch;  ///< by the size of the profile's input
};
constexpr std::array kProfiles{Profile{"vgg16", 128},      Profile{"resnet50", 128},
                               Profile{"resnet101", 64},   Profile{"inception_v3", 128},
                               Profile{"densenet121", 64}, Profile{"alexnet", 256}};
constexpr std::string_view kGpu = "V100-SXM2-16GB";

enum Kind : std::size_t { kConvolutions, kDense, kRest, kKinds };
constexpr std::array<std::string_view, kKinds> kNames{
    "convolutions", "dense layers", "other layers"};

/// Milliseconds by kind of layer, forward and backward.
using Times = std::array<std::array<double, 2>, kKinds>;

Kind kind_of(std::string_view operation) {
    if (operation.starts_with("Conv") || operation == "conv")
        return kConvolutions;
    return operation.starts_with("Linear") || operation == "linear" ? kDense : kRest;
}

Times measured(const std::filesystem::path& path) {
    Times times{};
    CsvNumbers numbers(path.string());
    constexpr std::array<const char*, 2> kColumns{"forward_ms", "backward_ms"};
    for (const CsvRecord& record : read_csv(path).records)
        for (std::size_t pass = 0; pass < kColumns.size(); ++pass)
            times[kind_of(record["op"])][pass] +=
                numbers.needed<double>(record, kColumns[pass], 0, "milliseconds from 0")
                    .value_or(0);
    numbers.throw_if_failed();
    return times;
}

double milliseconds(const Work& work) {
    Time all;
    for (const WorkItem& item : work)
        if (const auto* kernel = std::get_if<KernelItem>(&item))
            all += kernel->kernel.isolated;
    return to_seconds(all) * 1e3;
}

Times modelled(const Profile& profile, const GpuRates& gpu) {
    const Network network = find_network(profile.network).value();
    ParallelPlan plan;
    plan.micro_batch = profile.batch;
    plan.datatype = Datatype::kFloat32;
    const KernelTimes kernels(gpu);
    const LayerWork layers(network, kernels, plan);
    Times times{};
    for (std::uint32_t layer = 0; layer < network.layers.size(); ++layer) {
        auto& [forward, backward] = times[kind_of(network.layers[layer].type)];
        Work work;
        layers.forward(layer, work);
        forward += milliseconds(work);
        work.clear();
        layers.backward(layer, work);
        backward += milliseconds(work);
    }
    return times;
}

}  // namespace

void compare_profiled_layers(
    const SuiteOptions& options, const KernelGpus& gpus, SuiteResult& result) {
    const KernelGpus::Match match = gpus.find(kGpu);
    bool any = false;
    for (const Profile& profile : kProfiles) {
        const auto path = find_data(
            options, fmt::format("reference/training/profiles/pipedream/{}.csv", profile.network));
        if (!path || match.gpu == nullptr)
            continue;
        any = true;
        const Times theirs = measured(*path);
        const Times ours = modelled(profile, *match.gpu);
        for (std::size_t kind = 0; kind < kKinds; ++kind)
            for (std::size_t pass = 0; pass < 2; ++pass) {
                if (theirs[kind][pass] == 0)
                    continue;
                Case c;
                c.id = fmt::format(
                    "{} x {}/{}/{}", profile.network, profile.batch, kNames[kind],
                    pass == 0 ? "forward" : "backward");
                c.group = fmt::format("profile, fp32, {}", kNames[kind]);
                c.quantity = "time";
                c.unit = "ms";
                c.measured = theirs[kind][pass];
                c.simulated = ours[kind][pass];
                // Of no kind: the GPU is assumed, so the error says nothing of any GPU.
                result.cases.push_back(std::move(c));
            }
    }
    if (any)
        result.notes.emplace_back(
            "profiles of PipeDream: the GPU is not named, a V100 is assumed; each layer was timed "
            "alone, with its launch; shown, not judged");
}

}  // namespace switchfold::validation
