// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/network/loss.h"
#include "workloads/learning/numerics/matrix.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

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

enum class DataKind : std::uint8_t { kTeacher, kSpirals, kNoise, kCsv, kFashionMnist };

struct DataSpec {
    DataKind kind = DataKind::kTeacher;
    std::uint32_t samples = 2048;  ///< to train with; each epoch in an order of its own
    std::uint32_t held_out = 256;
    std::uint32_t features = 8;  ///< of teacher and noise
    std::uint32_t outputs = 4;   ///< of the teacher
    double noise = 0.05;         ///< standard deviation that is added to the teacher's outputs, to
                                 ///< the spirals' points, or of each row of noise
    std::string file;            ///< CSV: a header, then numbers; the last column is the target
    bool classes = false;        ///< CSV: the target is a class from 0 on
};

/// A network with fixed weights whose outputs are to be learned, plus noise. Both depend on the
/// seed.
[[nodiscard]] std::unique_ptr<Samples> teacher(const DataSpec& spec, std::uint64_t seed);
/// Two spirals that wind around each other once and a half; which a point lies on is its class.
[[nodiscard]] std::unique_ptr<Samples> two_spirals(const DataSpec& spec, std::uint64_t seed);
/// Numbers of mean 0, fresh for each sample, and a zero below them: for quadratic networks.
[[nodiscard]] std::unique_ptr<Samples> noise(const DataSpec& spec, std::uint64_t seed);
/// Inputs are brought to mean 0 and variance 1. A ConfigError names the line that is wrong.
[[nodiscard]] std::unique_ptr<Samples>
csv_samples(const DataSpec& spec, const std::filesystem::path& file, std::uint64_t seed);
/// The images of a folder in the form of MNIST, halved in width and height. ConfigError, IoError.
[[nodiscard]] std::unique_ptr<Samples>
fashion_mnist(const DataSpec& spec, const std::filesystem::path& folder, std::uint64_t seed);
/// Where Debian's package dataset-fashion-mnist puts them.
[[nodiscard]] std::filesystem::path fashion_mnist_folder();

}  // namespace switchfold::learning
