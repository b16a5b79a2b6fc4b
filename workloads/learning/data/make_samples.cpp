// SPDX-License-Identifier: Apache-2.0
#include "sim/core/error.h"
#include "workloads/learning/data/samples.h"

#include <fmt/format.h>

namespace switchfold::learning {

namespace {

std::unique_ptr<Samples>
samples_of(const Task& task, std::uint64_t seed, const std::filesystem::path& folder) {
    DataSpec spec = task.data;
    switch (spec.kind) {
    case DataKind::kTeacher:
        return teacher(spec, seed);
    case DataKind::kSpirals:
        return two_spirals(spec, seed);
    case DataKind::kNoise:
        spec.features = task.network.depth * task.network.width;
        return noise(spec, seed);
    case DataKind::kText:
        return text_samples(
            spec, task.network.tokens, spec.file.empty() ? "" : folder / spec.file, seed);
    case DataKind::kCsv:
        return csv_samples(spec, folder / spec.file, seed);
    case DataKind::kFashionMnist:
        return fashion_mnist(
            spec, spec.file.empty() ? fashion_mnist_folder() : folder / spec.file, seed);
    }
    return {};
}

}  // namespace

std::unique_ptr<Samples>
make_samples(const Task& task, std::uint64_t seed, const std::filesystem::path& folder) {
    auto samples = samples_of(task, seed, folder);
    if (task.network.kind == NetworkKind::kTransformer &&
        samples->features() % task.network.tokens != 0)
        throw ConfigError(
            task.data.file.empty() ? task.data.file : (folder / task.data.file).string(),
            "/learning/network/tokens",
            fmt::format(
                "is {}, which does not divide the {} features of a sample",
                task.network.tokens,
                samples->features()));
    return samples;
}

}  // namespace switchfold::learning
