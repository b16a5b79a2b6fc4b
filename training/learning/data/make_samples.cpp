// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/named_path.h"
#include "training/learning/data/check_files.h"
#include "training/learning/data/samples.h"

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
            spec, task.network.tokens, spec.file.empty() ? "" : path_from(folder, spec.file), seed);
    case DataKind::kCsv:
        return csv_samples(spec, path_from(folder, spec.file), seed);
    case DataKind::kFashionMnist:
        return fashion_mnist(
            spec, spec.file.empty() ? fashion_mnist_folder() : path_from(folder, spec.file), seed);
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
            task.data.file.empty() ? task.data.file : path_from(folder, task.data.file).string(),
            "/learning/network/tokens",
            fmt::format(
                "is {}, which does not divide the {} features of a sample", task.network.tokens,
                samples->features()));
    return samples;
}

std::vector<TaskProblem>
problems_of_files(const Task& task, std::uint64_t seed, const std::filesystem::path& folder) {
    const std::filesystem::path file = path_from(folder, task.data.file);
    std::error_code error;
    switch (task.data.kind) {
    case DataKind::kTeacher:
    case DataKind::kSpirals:
    case DataKind::kNoise:
        return {};
    case DataKind::kText:
    case DataKind::kCsv:
        if (!task.data.file.empty() && !std::filesystem::is_regular_file(file, error))
            return {
                {"/data/file",
                 fmt::format(
                     "is \"{}\": {} does not exist or is not a file; expected {}", task.data.file,
                     file.string(),
                     task.data.kind == DataKind::kCsv ? "one of comma-separated numbers"
                                                      : "a text")}};
        break;
    case DataKind::kFashionMnist:
        if (task.data.file.empty() && !std::filesystem::is_directory(fashion_mnist_folder(), error))
            return {
                {"/data/type", fmt::format(
                                   "is fashion_mnist, and {} does not exist; expected Debian's "
                                   "package dataset-fashion-mnist, or another folder in file",
                                   fashion_mnist_folder().string())}};
        break;
    }
    static_cast<void>(make_samples(task, seed, folder));
    return {};
}

}  // namespace switchfold::learning
