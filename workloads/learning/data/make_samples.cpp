// SPDX-License-Identifier: Apache-2.0
#include "workloads/learning/data/samples.h"

namespace switchfold::learning {

std::unique_ptr<Samples>
make_samples(const Task& task, std::uint64_t seed, const std::filesystem::path& folder) {
    DataSpec spec = task.data;
    switch (spec.kind) {
    case DataKind::kTeacher:
        return teacher(spec, seed);
    case DataKind::kSpirals:
        return two_spirals(spec, seed);
    case DataKind::kNoise:
        spec.features = task.network.depth * task.network.width;
        return noise(spec, seed);
    case DataKind::kCsv:
        return csv_samples(spec, folder / spec.file, seed);
    case DataKind::kFashionMnist:
        return fashion_mnist(
            spec, spec.file.empty() ? fashion_mnist_folder() : folder / spec.file, seed);
    }
    return {};
}

}  // namespace switchfold::learning
