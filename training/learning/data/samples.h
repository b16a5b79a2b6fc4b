// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/network/loss.h"
#include "training/learning/numerics/matrix.h"
#include "training/learning/task/task.h"

#include <cstdint>
#include <filesystem>
#include <memory>

namespace switchfold::learning {

struct Batch {
    Matrix inputs;   ///< one column per sample
    Matrix targets;  ///< one column per sample
};

/// An endless sequence of training samples, and some held-out samples.
class Samples {
public:
    Samples() = default;
    virtual ~Samples() = default;
    Samples(const Samples&) = delete;
    Samples& operator=(const Samples&) = delete;

    [[nodiscard]] virtual Index features() const = 0;
    [[nodiscard]] virtual Index outputs() const = 0;
    [[nodiscard]] virtual LossKind loss() const = 0;
    /// Samples of the sequence from `first` on; they depend on their numbers alone.
    [[nodiscard]] virtual Batch batch(std::uint64_t first, std::uint32_t count) = 0;
    [[nodiscard]] virtual const Batch& held_out() const = 0;
};

/// Samples of the task's kind. Throws ConfigError and IoError for files. Paths are relative to
/// `folder`.
[[nodiscard]] std::unique_ptr<Samples>
make_samples(const Task& task, std::uint64_t seed, const std::filesystem::path& folder);

/// Samples of a network with fixed weights whose outputs are to be learned, plus noise; both depend
/// on the seed.
[[nodiscard]] std::unique_ptr<Samples> teacher(const DataSpec& spec, std::uint64_t seed);
/// Two spirals wound around each other one and a half times; a point's class is its spiral.
[[nodiscard]] std::unique_ptr<Samples> two_spirals(const DataSpec& spec, std::uint64_t seed);
/// For quadratic networks: random numbers of mean 0 for each sample, and a last row of zeros.
[[nodiscard]] std::unique_ptr<Samples> noise(const DataSpec& spec, std::uint64_t seed);
/// Predicts the next character of a text from the `tokens` before it. With an empty `file`:
/// sentences of a grammar, different for each seed. Throws ConfigError, IoError.
[[nodiscard]] std::unique_ptr<Samples> text_samples(
    const DataSpec& spec, std::uint32_t tokens, const std::filesystem::path& file,
    std::uint64_t seed);
/// Inputs are scaled to mean 0 and variance 1. Throws ConfigError naming the line.
[[nodiscard]] std::unique_ptr<Samples>
csv_samples(const DataSpec& spec, const std::filesystem::path& file, std::uint64_t seed);
/// The images of a folder in MNIST's format, at half the width and height. Throws ConfigError,
/// IoError.
[[nodiscard]] std::unique_ptr<Samples>
fashion_mnist(const DataSpec& spec, const std::filesystem::path& folder, std::uint64_t seed);
/// The folder into which Debian's package dataset-fashion-mnist installs them.
[[nodiscard]] std::filesystem::path fashion_mnist_folder();

}  // namespace switchfold::learning
