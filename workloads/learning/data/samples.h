// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/network/loss.h"
#include "workloads/learning/numerics/matrix.h"
#include "workloads/learning/task/task.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace switchfold::learning {

struct Batch {
    Matrix inputs;   ///< a column a sample
    Matrix targets;  ///< likewise
};

/// An endless row of samples to train with, and some that are kept back.
class Samples {
public:
    Samples() = default;
    virtual ~Samples() = default;
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;

    [[nodiscard]] virtual Index features() const = 0;
    [[nodiscard]] virtual Index outputs() const = 0;
    [[nodiscard]] virtual LossKind loss() const = 0;
    /// Samples of the row from `first` on. What they are depends on nothing but their numbers.
    [[nodiscard]] virtual Batch batch(std::uint64_t first, std::uint32_t count) = 0;
    [[nodiscard]] virtual const Batch& held_out() const = 0;
};

/// Of the task's kind. Throws ConfigError and IoError for files. `folder`: paths are relative to
/// it.
[[nodiscard]] std::unique_ptr<Samples>
make_samples(const Task& task, std::uint64_t seed, const std::filesystem::path& folder);

/// A network with fixed weights whose outputs are to be learned, plus noise. Both depend on the
/// seed.
[[nodiscard]] std::unique_ptr<Samples> teacher(const DataSpec& spec, std::uint64_t seed);
/// Two spirals that wind around each other once and a half; which a point lies on is its class.
[[nodiscard]] std::unique_ptr<Samples> two_spirals(const DataSpec& spec, std::uint64_t seed);
/// Numbers of mean 0, fresh for each sample, and a zero below them: for quadratic networks.
[[nodiscard]] std::unique_ptr<Samples> noise(const DataSpec& spec, std::uint64_t seed);
/// The next character of a text, from the `tokens` before it. `file` empty: sentences of a grammar,
/// others for each seed. ConfigError, IoError.
[[nodiscard]] std::unique_ptr<Samples> text_samples(
    const DataSpec& spec,
    std::uint32_t tokens,
    const std::filesystem::path& file,
    std::uint64_t seed);
/// Inputs are brought to mean 0 and variance 1. A ConfigError names the line that is wrong.
[[nodiscard]] std::unique_ptr<Samples>
csv_samples(const DataSpec& spec, const std::filesystem::path& file, std::uint64_t seed);
/// The images of a folder in the form of MNIST, halved in width and height. ConfigError, IoError.
[[nodiscard]] std::unique_ptr<Samples>
fashion_mnist(const DataSpec& spec, const std::filesystem::path& folder, std::uint64_t seed);
/// Where Debian's package dataset-fashion-mnist puts them.
[[nodiscard]] std::filesystem::path fashion_mnist_folder();

}  // namespace switchfold::learning
