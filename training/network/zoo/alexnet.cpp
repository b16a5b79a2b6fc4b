// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_alexnet {

constexpr Window kPool = Window::square(3, 2);

/// torchvision's, after arXiv 1404.5997.
Network alexnet() {
    NetworkBuilder net("alexnet");
    std::uint32_t n = 0;
    const auto feature = [&] { return fmt::format("features.{}", n++); };
    const auto conv = [&](const Tensor& in, std::uint64_t channels, const Window& window) {
        const Tensor x = net.conv(feature(), in, channels, window);
        return net.each(feature(), "relu", x);
    };
    Tensor x = conv({{3, 224, 224}}, 64, Window::square(11, 4, 2));
    x = net.pool(feature(), "maxpool", x, kPool);
    x = conv(x, 192, Window::same(5, 5));
    x = net.pool(feature(), "maxpool", x, kPool);
    for (const std::uint64_t channels : {384, 256, 256})
        x = conv(x, channels, Window::same(3, 3));
    x = net.pool(feature(), "maxpool", x, kPool);
    x = net.each("classifier.0", "dropout", x);
    x = net.linear("classifier.1", x, 4096);
    x = net.each("classifier.2", "relu", x);
    x = net.each("classifier.3", "dropout", x);
    x = net.linear("classifier.4", x, 4096);
    x = net.each("classifier.5", "relu", x);
    x = net.linear("classifier.6", x, 1000);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

/// Krizhevsky 2012 as a single tower, with local response normalisation: the 23 layers used by
/// SuperNeurons (arXiv 1801.04380).
Network one_tower() {
    NetworkBuilder net("alexnet_one_tower_227");
    std::uint32_t n = 0;
    const auto conv = [&](const Tensor& in, std::uint64_t channels, const Window& window) {
        const Tensor x = net.conv(fmt::format("conv{}", ++n), in, channels, window);
        return net.each(fmt::format("relu{}", n), "relu", x);
    };
    const auto pool = [&](const Tensor& in) {
        return net.pool(fmt::format("pool{}", n), "maxpool", in, kPool);
    };
    Tensor x = conv({{3, 227, 227}}, 96, Window::square(11, 4));
    x = pool(net.each("lrn1", "lrn", x));
    x = conv(x, 256, Window::same(5, 5));
    x = pool(net.each("lrn2", "lrn", x));
    for (const std::uint64_t channels : {384, 384, 256})
        x = conv(x, channels, Window::same(3, 3));
    x = pool(x);
    for (const std::uint32_t i : {6, 7}) {
        x = net.linear(fmt::format("fc{}", i), x, 4096);
        x = net.each(fmt::format("relu{}", i), "relu", x);
        x = net.each(fmt::format("drop{}", i), "dropout", x);
    }
    x = net.linear("fc8", x, 1000);
    net.loss("softmax", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{Entry{"alexnet", alexnet}, Entry{"alexnet_one_tower_227", one_tower}};

}  // namespace of_alexnet

std::span<const Entry> alexnets() {
    return of_alexnet::kEntries;
}

}  // namespace switchfold::zoo
