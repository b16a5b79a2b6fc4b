// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_vgg {

constexpr std::uint32_t kStages = 5;

/// Simonyan and Zisserman 2014 (arXiv 1409.1556), torchvision's without batch norms; `depths`:
/// convolutions per stage.
Network vgg(std::string name, const std::array<std::uint32_t, kStages>& depths) {
    constexpr std::array<std::uint64_t, kStages> kChannels{64, 128, 256, 512, 512};
    NetworkBuilder net(std::move(name));
    Tensor x{{3, 224, 224}};
    std::uint32_t n = 0;
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
        for (std::uint32_t i = 0; i < depths[stage]; ++i, ++n) {
            x = net.conv(
                fmt::format("features.conv{}", n), x, kChannels[stage], Window::same(3, 3));
            x = net.each(fmt::format("features.relu{}", n), "relu", x);
        }
        x = net.pool(fmt::format("features.pool{}", stage), "maxpool", x, Window::square(2, 2));
    }
    x = net.linear("classifier.0", x, 4096);
    x = net.each("classifier.1", "relu", x);
    x = net.each("classifier.2", "dropout", x);
    x = net.linear("classifier.3", x, 4096);
    x = net.each("classifier.4", "relu", x);
    x = net.each("classifier.5", "dropout", x);
    x = net.linear("classifier.6", x, 1000);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{
    Entry{
        "vgg13",
        [] {
            return vgg("vgg13", {2, 2, 2, 2, 2});
        }},
    Entry{
        "vgg16",
        [] {
            return vgg("vgg16", {2, 2, 3, 3, 3});
        }},
    Entry{"vgg19", [] {
              return vgg("vgg19", {2, 2, 4, 4, 4});
          }}};

}  // namespace of_vgg

std::span<const Entry> vggs() {
    return of_vgg::kEntries;
}

}  // namespace switchfold::zoo
