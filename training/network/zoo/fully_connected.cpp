// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_fully_connected {

enum class Last : std::uint8_t { kActivated, kPlain };

/// Layers of these widths, each followed by its activation; the last one by `last`.
Network chain(
    std::string name, const std::vector<std::uint64_t>& widths, std::string_view activation,
    Last last, std::string_view loss) {
    NetworkBuilder net(std::move(name));
    Tensor x{{widths.front()}};
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
        x = net.linear(fmt::format("fc{}", i), x, widths[i + 1]);
        if (i + 2 < widths.size() || last == Last::kActivated)
            x = net.each(fmt::format("{}{}", activation, i), activation, x);
    }
    net.loss("loss", loss, {x});
    return net.take();
}

Network classifier(
    std::string name, const std::vector<std::uint64_t>& widths, std::string_view activation) {
    return chain(std::move(name), widths, activation, Last::kPlain, "softmax_loss");
}

Network autoencoder(
    std::string name, const std::vector<std::uint64_t>& widths, std::string_view activation) {
    return chain(std::move(name), widths, activation, Last::kActivated, "mse_loss");
}

/// MNIST classifier with four hidden layers.
Network digits() {
    return classifier("fc_784_2048x4_10", {784, 2048, 2048, 2048, 2048, 10}, "relu");
}
Network wide() {
    return classifier("fc_4096x8", {4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 1000}, "relu");
}
/// An acoustic model: 11 frames of 39 features to 9,304 senones (Seide et al. 2014, 1-bit SGD).
Network speech() {
    return classifier(
        "fc_speech_429_2048x7_9304", {429, 2048, 2048, 2048, 2048, 2048, 2048, 2048, 9304},
        "sigmoid");
}

/// Hinton and Salakhutdinov 2006 (Science 313).
Network autoencoder_784_30() {
    return autoencoder(
        "autoencoder_784_30", {784, 1000, 500, 250, 30, 250, 500, 1000, 784}, "sigmoid");
}
Network autoencoder_784_200() {
    return autoencoder("autoencoder_784_200", {784, 200, 784}, "sigmoid");
}
Network autoencoder_10000_128() {
    return autoencoder(
        "autoencoder_10000_128", {10'000, 2048, 512, 128, 512, 2048, 10'000}, "relu");
}

constexpr std::array kConnected{
    Entry{"fc_784_2048x4_10", digits}, Entry{"fc_4096x8", wide},
    Entry{"fc_speech_429_2048x7_9304", speech}};

constexpr std::array kAutoencoders{
    Entry{"autoencoder_784_200", autoencoder_784_200},
    Entry{"autoencoder_784_30", autoencoder_784_30},
    Entry{"autoencoder_10000_128", autoencoder_10000_128}};

}  // namespace of_fully_connected

std::span<const Entry> fully_connected() {
    return of_fully_connected::kConnected;
}

std::span<const Entry> autoencoders() {
    return of_fully_connected::kAutoencoders;
}

}  // namespace switchfold::zoo
