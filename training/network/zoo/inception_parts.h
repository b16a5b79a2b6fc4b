// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/builder.h"

#include <initializer_list>
#include <string>

namespace switchfold::zoo {

/// A convolution of an Inception network with its batch norm and ReLU.
struct Unit {
    const char* name;
    std::uint64_t channels;
    Window window = {};
};

/// Builds the branches of one Inception module; names are MODULE.BRANCH.
class InceptionModule {
public:
    InceptionModule(NetworkBuilder& net, std::string name) : net_(net), name_(std::move(name)) {}

    Tensor conv(const Tensor& in, const Unit& unit) {
        const std::string name = name_ + unit.name;
        Tensor x = net_.conv(name + ".conv", in, unit.channels, unit.window, /*bias=*/false);
        x = net_.batchnorm(name + ".bn", x);
        return net_.each(name + ".relu", "relu", x);
    }
    /// Adds the units in sequence.
    Tensor chain(Tensor x, std::initializer_list<Unit> units) {
        for (const Unit& unit : units)
            x = conv(x, unit);
        return x;
    }
    Tensor pool(const char* name, const char* type, const Tensor& in, const Window& window) {
        return net_.pool(name_ + name, type, in, window);
    }
    Tensor concat(const char* name, const std::vector<Tensor>& in) {
        return net_.concat(name_ + name, in);
    }

private:
    NetworkBuilder& net_;
    std::string name_;
};

inline constexpr Window kStride2 = Window::square(3, 2);
inline constexpr Window kSame3 = Window::same(3, 3);

}  // namespace switchfold::zoo
