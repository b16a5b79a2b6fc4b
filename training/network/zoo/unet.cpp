// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_unet {

constexpr std::uint64_t kWidth = 64;
constexpr std::uint32_t kDepth = 4;

Tensor twice(NetworkBuilder& net, const std::string& name, Tensor x, std::uint64_t channels) {
    for (const std::uint32_t i : {1, 2}) {
        x = net.conv(fmt::format("{}.conv{}", name, i), x, channels, Window::same(3, 3));
        x = net.each(fmt::format("{}.relu{}", name, i), "relu", x);
    }
    return x;
}

/// Ronneberger 2015 (arXiv 1505.04597) with padded convolutions, three input channels, two classes.
Network unet() {
    NetworkBuilder net("unet_416x608");
    Tensor x{{3, 416, 608}};
    std::vector<Tensor> kept;
    for (std::uint32_t i = 0; i < kDepth; ++i) {
        const std::string name = fmt::format("down{}", i);
        kept.push_back(twice(net, name, x, kWidth << i));
        x = net.pool(name + ".pool", "maxpool", kept.back(), Window::square(2, 2));
    }
    x = twice(net, "bottom", x, kWidth << kDepth);
    for (std::uint32_t i = kDepth; i-- > 0;) {
        const std::string name = fmt::format("up{}", i);
        x = net.up_conv(name + ".upconv", x, kWidth << i, 2);
        x = net.concat(name + ".concat", {kept[i], x});
        x = twice(net, name, x, kWidth << i);
    }
    x = net.conv("out", x, 2, Window::square(1));
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{Entry{"unet_416x608", unet}};

}  // namespace of_unet

std::span<const Entry> unets() {
    return of_unet::kEntries;
}

}  // namespace switchfold::zoo
