// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/layer_products.h"

#include <stdexcept>

namespace switchfold {

namespace {

/// A layer's forward product: `rows` x `outputs` results, each a sum of `inputs` terms.
MatrixProduct product(
    std::uint64_t rows, std::uint64_t inputs, std::uint64_t outputs, LayerPass pass,
    Datatype datatype, bool tf32) {
    MatrixProduct p;
    p.datatype = datatype;
    p.tf32 = tf32;
    switch (pass) {
    case LayerPass::kForward:
        p.m = rows;
        p.n = outputs;
        p.k = inputs;
        break;
    case LayerPass::kInputGradient:
        p.m = rows;
        p.n = inputs;
        p.k = outputs;
        break;
    case LayerPass::kWeightGradient:
        // The output's gradient was just produced; the input is left from the forward pass.
        p.m = outputs;
        p.n = inputs;
        p.k = rows;
        break;
    }
    return p;
}

}  // namespace

MatrixProduct product(const LinearShape& layer, LayerPass pass, Datatype datatype, bool tf32) {
    return product(layer.rows, layer.inputs, layer.outputs, pass, datatype, tf32);
}

MatrixProduct product(const ConvolutionShape& c, LayerPass pass, Datatype datatype, bool tf32) {
    if (c.groups == 0 || c.in_channels % c.groups != 0 || c.out_channels % c.groups != 0)
        throw std::invalid_argument(
            "a convolution's groups do not divide its channels; expected a divisor");
    const std::uint64_t window = c.kernel_height * c.kernel_width;
    const std::uint64_t in = c.in_channels / c.groups;
    const std::uint64_t out = c.out_channels / c.groups;
    const std::uint64_t results = c.batch * c.out_height * c.out_width;
    // Each input contributes to as many results as windows cover it, so the FLOPs are equal.
    MatrixProduct p = product(results, in * window, out, pass, datatype, tf32);
    if (pass == LayerPass::kInputGradient) {
        p.m = c.batch * c.in_height * c.in_width;
        p.n = in;
        const double operations = static_cast<double>(results) * static_cast<double>(in * window) *
                                  static_cast<double>(out);
        const double sums = static_cast<double>(p.m) * static_cast<double>(p.n);
        p.k = static_cast<std::uint64_t>(operations / sums + 0.5);
        p.k = p.k == 0 ? 1 : p.k;
    }
    p.count = c.groups;
    return p;
}

MatrixProduct product(const LstmStepShape& s, LayerPass pass, Datatype datatype, bool tf32) {
    constexpr std::uint64_t kGates = 4;
    MatrixProduct p =
        product(s.batch, s.inputs + s.hidden, kGates * s.hidden, pass, datatype, tf32);
    // The next time step reuses the weights.
    p.since_right = 0;
    return p;
}

}  // namespace switchfold
