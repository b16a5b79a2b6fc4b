// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_resnet {

constexpr std::uint32_t kStages = 4;
constexpr std::uint64_t kFirstWidth = 64;
constexpr std::uint64_t kExpansion = 4;  // ratio of a bottleneck's output to its middle
constexpr Window kPool = Window::square(3, 2, 1);
constexpr Window kFirst = Window::square(7, 2, 3);

/// One residual unit: its name, middle width and stride.
struct Unit {
    std::string name;
    std::uint64_t width;
    std::uint64_t stride;
};

using MakeUnit = Tensor (*)(NetworkBuilder& net, const Tensor& in, const Unit& unit);

Tensor
conv(NetworkBuilder& net, std::string name, const Tensor& in, std::uint64_t out, Window window) {
    return net.conv(std::move(name), in, out, window, /*bias=*/false);
}

/// The residual connection: the input, projected if its size changes.
Tensor shortcut(NetworkBuilder& net, const Tensor& in, const Unit& unit, std::uint64_t channels) {
    if (unit.stride == 1 && in.channels() == channels)
        return in;
    const Tensor x =
        conv(net, unit.name + ".downsample.0", in, channels, Window::square(1, unit.stride));
    return net.batchnorm(unit.name + ".downsample.1", x);
}

/// Two 3x3 convolutions.
Tensor basic(NetworkBuilder& net, const Tensor& in, const Unit& unit) {
    const auto name = [&](const char* what) { return unit.name + what; };
    Tensor x = conv(net, name(".conv1"), in, unit.width, Window::square(3, unit.stride, 1));
    x = net.batchnorm(name(".bn1"), x);
    x = net.each(name(".relu1"), "relu", x);
    x = conv(net, name(".conv2"), x, unit.width, Window::same(3, 3));
    x = net.batchnorm(name(".bn2"), x);
    const Tensor identity = shortcut(net, in, unit, unit.width);
    x = net.each_of(name(".add"), "add", {x, identity});
    return net.each(name(".relu"), "relu", x);
}

/// A 3x3 convolution, which has the stride (torchvision's "ResNet v1.5"), between two 1x1
/// convolutions.
Tensor bottleneck(NetworkBuilder& net, const Tensor& in, const Unit& unit) {
    const auto name = [&](const char* what) { return unit.name + what; };
    Tensor x = conv(net, name(".conv1"), in, unit.width, Window::square(1));
    x = net.batchnorm(name(".bn1"), x);
    x = net.each(name(".relu1"), "relu", x);
    x = conv(net, name(".conv2"), x, unit.width, Window::square(3, unit.stride, 1));
    x = net.batchnorm(name(".bn2"), x);
    x = net.each(name(".relu2"), "relu", x);
    x = conv(net, name(".conv3"), x, kExpansion * unit.width, Window::square(1));
    x = net.batchnorm(name(".bn3"), x);
    const Tensor identity = shortcut(net, in, unit, kExpansion * unit.width);
    x = net.each_of(name(".add"), "add", {x, identity});
    return net.each(name(".relu"), "relu", x);
}

/// Norm and ReLU before each convolution (arXiv 1603.05027); the first unit of a stage projects the
/// output of its first ReLU.
Tensor preactivated(NetworkBuilder& net, const Tensor& in, const Unit& unit) {
    const auto name = [&](const char* what) { return unit.name + what; };
    const std::uint64_t channels = kExpansion * unit.width;
    Tensor x = net.batchnorm(name(".bn1"), in);
    const Tensor first = net.each(name(".relu1"), "relu", x);
    x = conv(net, name(".conv1"), first, unit.width, Window::square(1));
    x = net.batchnorm(name(".bn2"), x);
    x = net.each(name(".relu2"), "relu", x);
    x = conv(net, name(".conv2"), x, unit.width, Window::square(3, unit.stride, 1));
    x = net.batchnorm(name(".bn3"), x);
    x = net.each(name(".relu3"), "relu", x);
    x = conv(net, name(".conv3"), x, channels, Window::square(1));
    Tensor identity = in;
    if (unit.stride != 1 || in.channels() != channels)
        identity = conv(net, name(".sc"), first, channels, Window::square(1, unit.stride));
    return net.each_of(name(".add"), "add", {x, identity});
}

/// `name` of a unit from its stage and index.
Tensor stages(
    NetworkBuilder& net, Tensor x, const std::array<std::uint32_t, kStages>& depths, MakeUnit make,
    std::string (*name)(std::uint32_t stage, std::uint32_t unit)) {
    for (std::uint32_t stage = 0; stage < kStages; ++stage)
        for (std::uint32_t i = 0; i < depths[stage]; ++i) {
            net.begin_block();
            const std::uint64_t stride = stage > 0 && i == 0 ? 2 : 1;
            x = make(net, x, {name(stage, i), kFirstWidth << stage, stride});
        }
    net.end_block();
    return x;
}

/// He et al. 2015 (arXiv 1512.03385), torchvision's.
Network resnet(std::string name, const std::array<std::uint32_t, kStages>& depths, MakeUnit make) {
    NetworkBuilder net(std::move(name));
    Tensor x = conv(net, "conv1", {{3, 224, 224}}, kFirstWidth, kFirst);
    x = net.batchnorm("bn1", x);
    x = net.each("relu", "relu", x);
    x = net.pool("maxpool", "maxpool", x, kPool);
    x = stages(net, x, depths, make, [](std::uint32_t stage, std::uint32_t unit) {
        return fmt::format("layer{}.{}", stage + 1, unit);
    });
    x = net.mean_of_image("avgpool", x);
    x = net.linear("fc", x, 1000);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

/// For images of 32 x 32: begins with a 3x3 convolution without pooling (kuangliu/pytorch-cifar).
Network resnet18_cifar10() {
    NetworkBuilder net("resnet18_cifar10");
    Tensor x = conv(net, "conv1", {{3, 32, 32}}, kFirstWidth, Window::same(3, 3));
    x = net.batchnorm("bn1", x);
    x = net.each("relu", "relu", x);
    x = stages(net, x, {2, 2, 2, 2}, basic, [](std::uint32_t stage, std::uint32_t unit) {
        return fmt::format("layer{}.{}", stage + 1, unit);
    });
    x = net.mean_of_image("avgpool", x);
    x = net.linear("linear", x, 10);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

/// MXNet's symbol "resnet" with 200 layers; it also normalises the input.
Network resnet200() {
    NetworkBuilder net("resnet200_preact");
    Tensor x = net.batchnorm("bn_data", {{3, 224, 224}});
    x = conv(net, "conv0", x, kFirstWidth, kFirst);
    x = net.batchnorm("bn0", x);
    x = net.each("relu0", "relu", x);
    x = net.pool("pool0", "maxpool", x, kPool);
    x = stages(net, x, {3, 24, 36, 3}, preactivated, [](std::uint32_t stage, std::uint32_t unit) {
        return fmt::format("stage{}.unit{}", stage + 1, unit + 1);
    });
    x = net.batchnorm("bn1", x);
    x = net.each("relu1", "relu", x);
    x = net.mean_of_image("pool1", x);
    x = net.linear("fc1", x, 1000);
    net.loss("softmax", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{
    Entry{
        "resnet18",
        [] {
            return resnet("resnet18", {2, 2, 2, 2}, basic);
        }},
    Entry{"resnet18_cifar10", resnet18_cifar10},
    Entry{
        "resnet34",
        [] {
            return resnet("resnet34", {3, 4, 6, 3}, basic);
        }},
    Entry{
        "resnet50",
        [] {
            return resnet("resnet50", {3, 4, 6, 3}, bottleneck);
        }},
    Entry{
        "resnet101",
        [] {
            return resnet("resnet101", {3, 4, 23, 3}, bottleneck);
        }},
    Entry{
        "resnet152",
        [] {
            return resnet("resnet152", {3, 8, 36, 3}, bottleneck);
        }},
    Entry{"resnet200_preact", resnet200}};

}  // namespace of_resnet

std::span<const Entry> resnets() {
    return of_resnet::kEntries;
}

}  // namespace switchfold::zoo
