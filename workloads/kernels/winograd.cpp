// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/winograd.h"

namespace switchfold {

namespace {

constexpr double kSingle = 4;        // bytes
constexpr std::uint64_t kSide = 4;   // of a tile of results
constexpr std::uint64_t kTile = 36;  // elements of a transformed tile: kSide + 3 - 1 squared
constexpr double kWindow = 9;
constexpr double kResults = kSide * kSide;
// TensorFlow's default (TF_CUDNN_WORKSPACE_LIMIT_IN_MB).
constexpr double kMostWorkspace = 4.0 * 1024 * 1024 * 1024;
// Operations of a transform, for one tile of one channel (Lavin and Gray, table 2).
constexpr double kOfData = 156;
constexpr double kOfWindow = 72;
constexpr double kOfResult = 90;

/// From `before` elements to `after` for each of `tiles`.
MemoryKernel transform(double tiles, double before, double after, double operations) {
    return {
        KernelClass::kElementwise, tiles * before * kSingle, tiles * after * kSingle,
        tiles * operations};
}

}  // namespace

std::optional<std::vector<WinogradKernel>>
winograd(const SmallWindows& layer, LayerPass pass, double summed, const KernelTimes& times) {
    if (!times.gpu().winograd)
        return std::nullopt;
    const std::uint64_t tiles =
        layer.images * ((layer.height + kSide - 1) / kSide) * ((layer.width + kSide - 1) / kSide);
    const double in = static_cast<double>(layer.in_channels);
    const double out = static_cast<double>(layer.out_channels);
    const auto count = static_cast<double>(tiles);
    if (kTile * kSingle * (count * (in + out) + in * out) > kMostWorkspace)
        return std::nullopt;
    const auto product = [&](std::uint64_t m, std::uint64_t n, std::uint64_t k) {
        return times.estimate(MatrixProduct{m, n, k, kTile, Datatype::kFloat32, false});
    };
    const auto data = [&](double channels) {
        return times.estimate(transform(count * channels, kResults, kTile, kOfData));
    };
    if (pass == LayerPass::kWeightGradient) {
        MemoryKernel sums = transform(in * out, kTile, kWindow, kOfWindow);
        sums.read += in * out * kWindow * summed;
        return std::vector<WinogradKernel>{
            {" input tiles", data(in)},
            {" output tiles", data(out)},
            {"", product(layer.in_channels, layer.out_channels, tiles)},
            {" windows", times.estimate(sums)}};
    }
    const bool forward = pass == LayerPass::kForward;
    const double to = forward ? out : in;
    return std::vector<WinogradKernel>{
        {" windows", times.estimate(transform(in * out, kWindow, kTile, kOfWindow))},
        {forward ? " input tiles" : " output tiles", data(forward ? in : out)},
        {"", product(
                 tiles, forward ? layer.out_channels : layer.in_channels,
                 forward ? layer.in_channels : layer.out_channels)},
        {" results", times.estimate(transform(count * to, kTile, kResults, kOfResult))}};
}

}  // namespace switchfold
