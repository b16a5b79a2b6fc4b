// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/whole_network.h"

#include "training/learning/network/loss.h"

namespace switchfold::learning {

WholeNetwork::WholeNetwork(const Task& task, Samples& samples, const Watch& watch) :
    task_(task),
    samples_(samples),
    network_(task.network, samples.features(), samples.outputs()),
    net_(network_.cut(1, &watch)) {}

WholeNetwork::Pass
WholeNetwork::pass(const Vector& weights, std::uint32_t step, const BatchPart& part) const {
    const Batch batch =
        samples_.batch(std::uint64_t{step} * task_.batch + part.begin, part.count());
    const Stage& net = net_.front();
    Pass pass;
    const Matrix output = net.forward(weights, batch.inputs, pass.tapes);
    const Loss loss = loss_of(samples_.loss(), output, batch.targets, 1);
    pass.loss = loss.sum;
    (void)net.backward(weights, loss.gradient, pass.tapes);
    return pass;
}

void WholeNetwork::add_gradient(const Pass& pass, Vector& gradient) const {
    net_.front().add_gradients(pass.tapes, gradient);
}

Vector WholeNetwork::mean_gradient(const Pass& pass, const BatchPart& part) const {
    Vector gradient = Vector::Zero(parameters());
    add_gradient(pass, gradient);
    return gradient / static_cast<double>(part.count());
}

Vector WholeNetwork::initial_weights(std::uint64_t seed) const {
    return net_.front().initial_weights(seed);
}

}  // namespace switchfold::learning
