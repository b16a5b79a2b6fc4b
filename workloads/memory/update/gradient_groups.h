// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A layer with weights as its update sees it. Layers stand in the order of the forward pass.
struct UpdateLayer {
    std::string name;
    double input_gradient = 0;   ///< seconds: X, which reads the weights
    double weight_gradient = 0;  ///< seconds: D, which writes their gradient
    double update = 0;           ///< seconds: U, which reads the gradient and writes the weights
    std::uint64_t gradient = 0;  ///< bytes
    std::uint64_t weights = 0;   ///< bytes
    std::optional<std::uint32_t> shares =
        {};  ///< the earlier layer into whose gradient it adds too
};

/// Gradients that come, are reduced and updated together: a layer's, or a bucket's.
struct GradientGroup {
    std::uint64_t bytes = 0;
    double update = 0;  ///< seconds
    /// Layers that add to it, the last one first: its memory is taken with the first weight
    /// gradient and complete with the last.
    std::vector<std::uint32_t> layers;
    std::vector<std::uint32_t> owners;  ///< layers whose weights it updates
};

/// A group a layer with weights, in the order of the backward pass. Shared weights are one group.
[[nodiscard]] std::vector<GradientGroup> layer_groups(const std::vector<UpdateLayer>& layers);

/// Buckets that close once they hold so many bytes (PyTorch's DistributedDataParallel).
[[nodiscard]] std::vector<GradientGroup>
bucket_groups(const std::vector<UpdateLayer>& layers, std::uint64_t first, std::uint64_t others);

[[nodiscard]] std::uint64_t sum_of_bytes(const std::vector<GradientGroup>& groups);
[[nodiscard]] std::uint64_t largest(const std::vector<GradientGroup>& groups);
/// Of two neighbours in the order of the backward pass.
[[nodiscard]] std::uint64_t largest_pair(const std::vector<GradientGroup>& groups);
/// The least memory in which backward never waits for ever: groups that are not complete, together.
[[nodiscard]] std::uint64_t
least_ring(const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups);

}  // namespace switchfold
