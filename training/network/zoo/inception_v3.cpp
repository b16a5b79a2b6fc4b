// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"
#include "training/network/zoo/inception_parts.h"

#include <array>

namespace switchfold::zoo {

namespace of_inception_v3 {

// Szegedy et al. 2015 (arXiv 1512.00567), torchvision's: modules A to E.

constexpr Window kRow7 = Window::same(1, 7);
constexpr Window kColumn7 = Window::same(7, 1);

Tensor module_a(InceptionModule m, const Tensor& in, std::uint64_t pooled) {
    const Tensor b1 = m.conv(in, {".branch1x1", 64});
    const Tensor b5 = m.chain(in, {{".branch5x5_1", 48}, {".branch5x5_2", 64, Window::same(5, 5)}});
    const Tensor b3 = m.chain(
        in, {{".branch3x3dbl_1", 64},
             {".branch3x3dbl_2", 96, kSame3},
             {".branch3x3dbl_3", 96, kSame3}});
    const Tensor pool = m.pool(".avgpool", "avgpool", in, kSame3);
    return m.concat(".concat", {b1, b5, b3, m.conv(pool, {".branch_pool", pooled})});
}

Tensor module_b(InceptionModule m, const Tensor& in) {
    const Tensor b3 = m.conv(in, {".branch3x3", 384, kStride2});
    const Tensor twice = m.chain(
        in, {{".branch3x3dbl_1", 64},
             {".branch3x3dbl_2", 96, kSame3},
             {".branch3x3dbl_3", 96, kStride2}});
    return m.concat(".concat", {b3, twice, m.pool(".maxpool", "maxpool", in, kStride2)});
}

Tensor module_c(InceptionModule m, const Tensor& in, std::uint64_t middle) {
    const Tensor b1 = m.conv(in, {".branch1x1", 192});
    const Tensor b7 = m.chain(
        in, {{".branch7x7_1", middle},
             {".branch7x7_2", middle, kRow7},
             {".branch7x7_3", 192, kColumn7}});
    const Tensor twice = m.chain(
        in, {{".branch7x7dbl_1", middle},
             {".branch7x7dbl_2", middle, kColumn7},
             {".branch7x7dbl_3", middle, kRow7},
             {".branch7x7dbl_4", middle, kColumn7},
             {".branch7x7dbl_5", 192, kRow7}});
    const Tensor pool = m.pool(".avgpool", "avgpool", in, kSame3);
    return m.concat(".concat", {b1, b7, twice, m.conv(pool, {".branch_pool", 192})});
}

Tensor module_d(InceptionModule m, const Tensor& in) {
    const Tensor b3 = m.chain(in, {{".branch3x3_1", 192}, {".branch3x3_2", 320, kStride2}});
    const Tensor b7 = m.chain(
        in, {{".branch7x7x3_1", 192},
             {".branch7x7x3_2", 192, kRow7},
             {".branch7x7x3_3", 192, kColumn7},
             {".branch7x7x3_4", 192, kStride2}});
    return m.concat(".concat", {b3, b7, m.pool(".maxpool", "maxpool", in, kStride2)});
}

Tensor module_e(InceptionModule m, const Tensor& in) {
    constexpr Window kRow = Window::same(1, 3);
    constexpr Window kColumn = Window::same(3, 1);
    const Tensor b1 = m.conv(in, {".branch1x1", 320});
    Tensor x = m.conv(in, {".branch3x3_1", 384});
    Tensor left = m.conv(x, {".branch3x3_2a", 384, kRow});
    Tensor right = m.conv(x, {".branch3x3_2b", 384, kColumn});
    const Tensor b3 = m.concat(".concat3x3", {left, right});
    x = m.chain(in, {{".branch3x3dbl_1", 448}, {".branch3x3dbl_2", 384, kSame3}});
    left = m.conv(x, {".branch3x3dbl_3a", 384, kRow});
    right = m.conv(x, {".branch3x3dbl_3b", 384, kColumn});
    const Tensor twice = m.concat(".concat3x3dbl", {left, right});
    const Tensor pool = m.pool(".avgpool", "avgpool", in, kSame3);
    return m.concat(".concat", {b1, b3, twice, m.conv(pool, {".branch_pool", 192})});
}

/// The auxiliary classifier, which the loss reads too.
Tensor auxiliary(NetworkBuilder& net, const Tensor& in) {
    InceptionModule m(net, "AuxLogits");
    Tensor x = m.pool(".avgpool", "avgpool", in, Window::square(5, 3));
    x = m.chain(x, {{".conv0", 128}, {".conv1", 768, Window::square(5)}});
    x = net.mean_of_image("AuxLogits.pool", x);
    return net.linear("AuxLogits.fc", x, 1000);
}

Network make() {
    NetworkBuilder net("inception_v3");
    InceptionModule stem(net, "");
    Tensor x = stem.chain(
        {{3, 299, 299}}, {{"Conv2d_1a_3x3", 32, kStride2},
                          {"Conv2d_2a_3x3", 32, Window::square(3)},
                          {"Conv2d_2b_3x3", 64, kSame3}});
    x = stem.pool("maxpool1", "maxpool", x, kStride2);
    x = stem.chain(x, {{"Conv2d_3b_1x1", 80}, {"Conv2d_4a_3x3", 192, Window::square(3)}});
    x = stem.pool("maxpool2", "maxpool", x, kStride2);
    const auto block = [&](const char* name) {
        net.begin_block();
        return InceptionModule(net, name);
    };
    x = module_a(block("Mixed_5b"), x, 32);
    x = module_a(block("Mixed_5c"), x, 64);
    x = module_a(block("Mixed_5d"), x, 64);
    x = module_b(block("Mixed_6a"), x);
    x = module_c(block("Mixed_6b"), x, 128);
    x = module_c(block("Mixed_6c"), x, 160);
    x = module_c(block("Mixed_6d"), x, 160);
    x = module_c(block("Mixed_6e"), x, 192);
    net.end_block();
    const Tensor beside = auxiliary(net, x);
    x = module_d(block("Mixed_7a"), x);
    x = module_e(block("Mixed_7b"), x);
    x = module_e(block("Mixed_7c"), x);
    net.end_block();
    x = net.mean_of_image("avgpool", x);
    x = net.each("dropout", "dropout", x);
    x = net.linear("fc", x, 1000);
    net.loss("loss", "softmax_loss", {x, beside});
    return net.take();
}

constexpr std::array kEntries{Entry{"inception_v3", make}};

}  // namespace of_inception_v3

std::span<const Entry> inception_v3() {
    return of_inception_v3::kEntries;
}

}  // namespace switchfold::zoo
