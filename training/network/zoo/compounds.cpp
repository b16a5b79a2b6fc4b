// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_compounds {

constexpr std::uint64_t kEvents = 100;
constexpr std::uint64_t kVocabulary = 10'000;
constexpr std::uint64_t kHidden = 512;

struct Coded {
    Tensor code;
    Tensor loss;
};

/// Encodes a vector of counts to a code of 128 and decodes it.
Coded autoencoder(NetworkBuilder& net) {
    std::uint32_t n = 0;
    const auto activated = [&](const Tensor& in) {
        return net.each(fmt::format("autoencoder.relu{}", n++), "relu", in);
    };
    Tensor x = activated(net.linear("autoencoder.enc0", {{kVocabulary}}, 2048));
    x = activated(net.linear("autoencoder.enc1", x, 512));
    const Tensor code = net.linear("autoencoder.enc2", x, 128);
    x = activated(net.linear("autoencoder.dec0", code, 512));
    x = activated(net.linear("autoencoder.dec1", x, 2048));
    x = net.linear("autoencoder.dec2", x, kVocabulary);
    return {code, net.loss("autoencoder.loss", "mse_loss", {x})};
}

/// A substitute for networks that combine a recurrent, an autoencoder and an attention branch:
/// predicts the next event from 100 events and a vector.
Network make() {
    NetworkBuilder net("compound_lstm_ae_attention", kEvents);
    Tensor x = net.embedding("embedding", {{kEvents}}, kVocabulary, 128);
    x = net.lstm("lstm.0", {x}, kHidden);
    const Tensor states = net.lstm("lstm.1", {x}, kHidden);
    const Tensor last = net.layer({"lstm.last", "slice"}, {states}, {kHidden});
    const Coded coded = autoencoder(net);
    x = net.linear("attention.qkv", states, 3 * kHidden, {true, TensorSplit::kColumns});
    x = net.attention("attention.sdpa", {x}, kHidden, {8, true});
    x = net.linear("attention.out", x, kHidden, {true, TensorSplit::kRows});
    x = net.layer({"attention.pool", "avgpool"}, {x}, {kHidden});
    x = net.concat("fusion.concat", {last, coded.code, x});
    x = net.each("fusion.relu0", "relu", net.linear("fusion.0", x, kHidden));
    x = net.each("fusion.relu1", "relu", net.linear("fusion.1", x, kHidden));
    x = net.linear("head", x, kVocabulary);
    net.loss("loss", "softmax_loss", {x, coded.loss});
    return net.take();
}

constexpr std::array kEntries{Entry{"compound_lstm_ae_attention", make}};

}  // namespace of_compounds

std::span<const Entry> compounds() {
    return of_compounds::kEntries;
}

}  // namespace switchfold::zoo
