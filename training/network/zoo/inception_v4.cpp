// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/zoo/families.h"
#include "training/network/zoo/inception_parts.h"

#include <fmt/format.h>

#include <array>

namespace switchfold::zoo {

namespace of_inception_v4 {

// Szegedy et al. 2016 (arXiv 1602.07261): stem, modules A to C and the reductions between them.

constexpr Window kRow7 = Window::same(1, 7);
constexpr Window kColumn7 = Window::same(7, 1);
constexpr Window kValid3 = Window::square(3);

Tensor stem(InceptionModule m, const Tensor& in) {
    Tensor x =
        m.chain(in, {{"conv1", 32, kStride2}, {"conv2", 32, kValid3}, {"conv3", 64, kSame3}});
    const Tensor pool = m.pool("pool1", "maxpool", x, kStride2);
    x = m.concat("cat1", {pool, m.conv(x, {"conv4", 96, kStride2})});
    const Tensor a = m.chain(x, {{"a1", 64}, {"a2", 96, kValid3}});
    const Tensor b =
        m.chain(x, {{"b1", 64}, {"b2", 64, kRow7}, {"b3", 64, kColumn7}, {"b4", 96, kValid3}});
    x = m.concat("cat2", {a, b});
    const Tensor conv = m.conv(x, {"conv5", 192, kStride2});
    return m.concat("cat3", {conv, m.pool("pool2", "maxpool", x, kStride2)});
}

Tensor module_a(InceptionModule m, const Tensor& in) {
    const Tensor b0 = m.conv(in, {"b0", 96});
    const Tensor b1 = m.chain(in, {{"b1_1", 64}, {"b1_2", 96, kSame3}});
    const Tensor b2 = m.chain(in, {{"b2_1", 64}, {"b2_2", 96, kSame3}, {"b2_3", 96, kSame3}});
    const Tensor pool = m.pool("avgpool", "avgpool", in, kSame3);
    return m.concat("concat", {b0, b1, b2, m.conv(pool, {"b3", 96})});
}

Tensor reduction_a(InceptionModule m, const Tensor& in) {
    const Tensor b0 = m.conv(in, {"b0", 384, kStride2});
    const Tensor b1 = m.chain(in, {{"b1_1", 192}, {"b1_2", 224, kSame3}, {"b1_3", 256, kStride2}});
    return m.concat("concat", {b0, b1, m.pool("pool", "maxpool", in, kStride2)});
}

Tensor module_b(InceptionModule m, const Tensor& in) {
    const Tensor b0 = m.conv(in, {"b0", 384});
    const Tensor b1 = m.chain(in, {{"b1_1", 192}, {"b1_2", 224, kRow7}, {"b1_3", 256, kColumn7}});
    const Tensor b2 = m.chain(
        in, {{"b2_1", 192},
             {"b2_2", 192, kColumn7},
             {"b2_3", 224, kRow7},
             {"b2_4", 224, kColumn7},
             {"b2_5", 256, kRow7}});
    const Tensor pool = m.pool("avgpool", "avgpool", in, kSame3);
    return m.concat("concat", {b0, b1, b2, m.conv(pool, {"b3", 128})});
}

Tensor reduction_b(InceptionModule m, const Tensor& in) {
    const Tensor b0 = m.chain(in, {{"b0_1", 192}, {"b0_2", 192, kStride2}});
    const Tensor b1 = m.chain(
        in,
        {{"b1_1", 256}, {"b1_2", 256, kRow7}, {"b1_3", 320, kColumn7}, {"b1_4", 320, kStride2}});
    return m.concat("concat", {b0, b1, m.pool("pool", "maxpool", in, kStride2)});
}

Tensor module_c(InceptionModule m, const Tensor& in) {
    constexpr Window kRow = Window::same(1, 3);
    constexpr Window kColumn = Window::same(3, 1);
    const Tensor b0 = m.conv(in, {"b0", 256});
    Tensor x = m.conv(in, {"b1_0", 384});
    Tensor left = m.conv(x, {"b1_1a", 256, kRow});
    Tensor right = m.conv(x, {"b1_1b", 256, kColumn});
    const Tensor b1 = m.concat("b1", {left, right});
    x = m.chain(in, {{"b2_0", 384}, {"b2_1", 448, kColumn}, {"b2_2", 512, kRow}});
    left = m.conv(x, {"b2_3a", 256, kRow});
    right = m.conv(x, {"b2_3b", 256, kColumn});
    const Tensor b2 = m.concat("b2", {left, right});
    const Tensor pool = m.pool("avgpool", "avgpool", in, kSame3);
    return m.concat("concat", {b0, b1, b2, m.conv(pool, {"b3", 256})});
}

Network make() {
    constexpr std::uint32_t kModulesA = 4;
    constexpr std::uint32_t kModulesB = 7;
    constexpr std::uint32_t kModulesC = 3;
    NetworkBuilder net("inception_v4");
    const auto block = [&](std::string_view kind, std::uint32_t n) {
        net.begin_block();
        return InceptionModule(net, fmt::format("{}{}.", kind, n));
    };
    const auto reduction = [&](const char* name) {
        net.begin_block();
        return InceptionModule(net, name);
    };
    Tensor x = stem(InceptionModule(net, "stem."), {{3, 299, 299}});
    for (std::uint32_t i = 0; i < kModulesA; ++i)
        x = module_a(block("a", i), x);
    x = reduction_a(reduction("ra."), x);
    for (std::uint32_t i = 0; i < kModulesB; ++i)
        x = module_b(block("b", i), x);
    x = reduction_b(reduction("rb."), x);
    for (std::uint32_t i = 0; i < kModulesC; ++i)
        x = module_c(block("c", i), x);
    net.end_block();
    x = net.mean_of_image("avgpool", x);
    x = net.each("dropout", "dropout", x);
    x = net.linear("fc", x, 1000);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

constexpr std::array kEntries{Entry{"inception_v4", make}};

}  // namespace of_inception_v4

std::span<const Entry> inception_v4() {
    return of_inception_v4::kEntries;
}

}  // namespace switchfold::zoo
