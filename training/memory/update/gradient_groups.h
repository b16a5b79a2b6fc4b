// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A layer with weights, as seen by its update. Layers are in forward order.
struct UpdateLayer {
    std::string name;
    double input_gradient = 0;   ///< seconds: X, reads the weights
    double weight_gradient = 0;  ///< seconds: D, writes their gradient
    double update = 0;           ///< seconds: U, reads the gradient and writes the weights
    std::uint64_t gradient = 0;  ///< bytes
    std::uint64_t weights = 0;   ///< bytes
    std::optional<std::uint32_t> shares = {};  ///< an earlier layer to whose gradient it also adds
    bool of_experts = false;                   ///< fewer replicas hold its weights
};

/// Gradients that are stored, reduced and updated together: a layer's, or a bucket's.
struct GradientGroup {
    std::uint64_t bytes = 0;
    double update = 0;  ///< seconds
    /// Layers that add to it, the last one first: memory is taken with the first weight gradient;
    /// the group is complete with the last.
    std::vector<std::uint32_t> layers;
    std::vector<std::uint32_t> owners;  ///< layers whose weights it updates
    bool of_experts = false;
};

/// One group per layer with weights, in backward order. Shared weights form one group.
[[nodiscard]] std::vector<GradientGroup> layer_groups(const std::vector<UpdateLayer>& layers);

/// Buckets that close once they hold `first` bytes, then `others` bytes (PyTorch's
/// DistributedDataParallel). Experts, which fewer replicas hold, have buckets of their own.
[[nodiscard]] std::vector<GradientGroup>
bucket_groups(const std::vector<UpdateLayer>& layers, std::uint64_t first, std::uint64_t others);

[[nodiscard]] std::uint64_t sum_of_bytes(const std::vector<GradientGroup>& groups);
[[nodiscard]] std::uint64_t largest(const std::vector<GradientGroup>& groups);
/// Largest sum of two adjacent groups in backward order.
[[nodiscard]] std::uint64_t largest_pair(const std::vector<GradientGroup>& groups);
/// The least memory in which backward cannot deadlock: the largest sum of incomplete groups.
[[nodiscard]] std::uint64_t
least_ring(const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups);

}  // namespace switchfold
