# SPDX-License-Identifier: Apache-2.0
"""ResNet-50: its layers and their tensors (He et al., "Deep Residual Learning for Image Recognition",
CVPR 2016, table 1; stride in the 3x3 convolution, as in torchvision)."""
import math

BATCH = 12  # per GPU: small, so that all-reduces take a fifth of the backward pass
FLOAT = 4
PARAMETERS = 25_557_032  # torchvision's resnet50


class Conv:
    def __init__(self, name, size, inputs, outputs, kernel=1, stride=1):
        self.name, self.kernel, self.stride = name, kernel, stride
        self.inputs, self.outputs = inputs, outputs
        self.size, self.out_size = size, size // stride

    @property
    def x(self):
        return [BATCH, self.inputs, self.size, self.size]

    @property
    def y(self):
        return [BATCH, self.outputs, self.out_size, self.out_size]

    @property
    def weight(self):
        return [self.outputs, self.inputs, self.kernel, self.kernel]


class Block:
    """A bottleneck: 1x1, 3x3, 1x1, and a projection where the shape changes."""

    def __init__(self, name, size, inputs, width, stride):
        outputs = 4 * width
        self.name = name
        self.path = [
            Conv(f"{name}.conv1", size, inputs, width),
            Conv(f"{name}.conv2", size, width, width, 3, stride),
            Conv(f"{name}.conv3", size // stride, width, outputs),
        ]
        self.projection = None
        if inputs != outputs or stride != 1:
            self.projection = Conv(f"{name}.downsample.0", size, inputs, outputs, 1, stride)


def resnet50():
    stem = Conv("conv1", 224, 3, 64, 7, 2)
    blocks, inputs, size = [], 64, 56
    for stage, (width, count) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)], 1):
        for i in range(count):
            stride = 2 if i == 0 and stage > 1 else 1
            blocks.append(Block(f"layer{stage}.{i}", size, inputs, width, stride))
            inputs, size = 4 * width, size // stride
    return stem, blocks


def elements(shape):
    return math.prod(shape)
