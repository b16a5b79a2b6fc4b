// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"

#include <span>
#include <string_view>

namespace switchfold::zoo {

struct Entry {
    std::string_view name;
    Network (*make)();
};

// One file per family.
[[nodiscard]] std::span<const Entry> alexnets();
[[nodiscard]] std::span<const Entry> vggs();
[[nodiscard]] std::span<const Entry> resnets();
[[nodiscard]] std::span<const Entry> inception_v3();
[[nodiscard]] std::span<const Entry> inception_v4();
[[nodiscard]] std::span<const Entry> densenets();
[[nodiscard]] std::span<const Entry> unets();
[[nodiscard]] std::span<const Entry> gnmts();
[[nodiscard]] std::span<const Entry> recurrent();
[[nodiscard]] std::span<const Entry> decoders();
[[nodiscard]] std::span<const Entry> encoders();
[[nodiscard]] std::span<const Entry> transformers();
[[nodiscard]] std::span<const Entry> fully_connected();
[[nodiscard]] std::span<const Entry> autoencoders();
[[nodiscard]] std::span<const Entry> recommenders();
[[nodiscard]] std::span<const Entry> compounds();

}  // namespace switchfold::zoo
