// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_densenet {

constexpr std::uint64_t kGrowth = 32;
constexpr std::uint64_t kBottleneck = 4 * kGrowth;

Tensor
norm_relu(NetworkBuilder& net, const std::string& norm, const std::string& relu, const Tensor& in) {
    return net.each(relu, "relu", net.batchnorm(norm, in));
}

/// Every layer reads the block's input and all earlier layers of the block.
Tensor
dense_block(NetworkBuilder& net, const std::string& block, const Tensor& in, std::uint32_t layers) {
    std::vector<Tensor> all{in};
    for (std::uint32_t i = 1; i <= layers; ++i) {
        const std::string name = fmt::format("{}.layer{}", block, i);
        Tensor x = all.size() == 1 ? in : net.concat(name + ".concat", all);
        x = norm_relu(net, name + ".norm1", name + ".relu1", x);
        x = net.conv(name + ".conv1", x, kBottleneck, Window::square(1), /*bias=*/false);
        x = norm_relu(net, name + ".norm2", name + ".relu2", x);
        all.push_back(net.conv(name + ".conv2", x, kGrowth, Window::same(3, 3), /*bias=*/false));
    }
    return net.concat(block + ".out", all);
}

/// Halves channels, height and width.
Tensor transition(NetworkBuilder& net, const std::string& name, const Tensor& in) {
    Tensor x = norm_relu(net, name + ".norm", name + ".relu", in);
    x = net.conv(name + ".conv", x, in.channels() / 2, Window::square(1), /*bias=*/false);
    return net.pool(name + ".pool", "avgpool", x, Window::square(2, 2));
}

/// Huang et al. 2016 (arXiv 1608.06993), torchvision's.
Network densenet121() {
    constexpr std::array<std::uint32_t, 4> kLayers{6, 12, 24, 16};
    NetworkBuilder net("densenet121");
    Tensor x =
        net.conv("conv0", {{3, 224, 224}}, 2 * kGrowth, Window::square(7, 2, 3), /*bias=*/false);
    x = norm_relu(net, "norm0", "relu0", x);
    x = net.pool("pool0", "maxpool", x, Window::square(3, 2, 1));
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
        if (i > 0)
            x = transition(net, fmt::format("transition{}", i), x);
        net.begin_block();
        x = dense_block(net, fmt::format("denseblock{}", i + 1), x, kLayers[i]);
        net.end_block();
    }
    x = norm_relu(net, "norm5", "relu5", x);
    x = net.mean_of_image("avgpool", x);
    x = net.linear("classifier", x, 1000);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{Entry{"densenet121", densenet121}};

}  // namespace of_densenet

std::span<const Entry> densenets() {
    return of_densenet::kEntries;
}

}  // namespace switchfold::zoo
