#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the layer tables of validation/data/networks (docs/networks.md, "As a table").

U-Net (5, 64): the simplified one of kakaobrain/torchgpipe@a1b4ee25, benchmarks/models/unet, by its
numbers: depth 5, five convolutions of 3 x 3 a cell without bias, 64 channels at first, a mask of
one channel, 192 x 192 samples (benchmarks/unet-speed)."""
import csv
import pathlib

COLUMNS = ["layer", "type", "params", "fwd_macs_per_sample", "out_elems_per_sample", "inputs",
           "out_shape"]


class Table:
    def __init__(self):
        self.rows = []

    def add(self, name, kind, inputs, shape, params=0, macs=0):
        elements = shape[0] * shape[1] * shape[2]
        self.rows.append([name, kind, params, macs, elements, ";".join(inputs),
                          "x".join(map(str, shape))])
        return name, shape

    def conv(self, name, x, channels, window):
        weights = x[1][0] * channels * window * window
        shape = (channels, x[1][1], x[1][2])
        return self.add(name, "conv", [x[0]], shape, weights, weights * shape[1] * shape[2])

    def write(self, path):
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(self.rows)


def cell(table, name, x, middle, out, convolutions=5):
    for i in range(convolutions):
        last = i == convolutions - 1
        x = table.conv(f"{name}.{i}.conv", x, out if last else middle, 3)
        for kind in ("dropout", "norm", "relu"):
            x = table.add(f"{name}.{i}.{kind}", kind, [x[0]], x[1])
    return x


def unet(depth=5, base=64, size=192):
    table = Table()
    x = ("@image", (3, size, size))
    skips = []
    for i in range(depth):
        x = cell(table, f"encoder.{i}", x, base << i, base << i)
        skips.append(x)
        x = table.add(f"encoder.{i}.down", "maxpool", [x[0]],
                      (x[1][0], x[1][1] // 2, x[1][2] // 2))
    x = cell(table, "bottleneck", x, base << depth, base << (depth - 1))
    for i in reversed(range(depth)):
        up = table.add(f"decoder.{i}.up", "upsample", [x[0]],
                       (x[1][0], x[1][1] * 2, x[1][2] * 2))
        skip = skips[i]
        x = table.add(f"decoder.{i}.concat", "concat", [up[0], skip[0]],
                      (up[1][0] + skip[1][0], up[1][1], up[1][2]))
        narrow = (base << i) // 2
        x = cell(table, f"decoder.{i}", x, narrow, narrow)
    x = table.conv("segment", x, 1, 1)
    table.add("loss", "bce_loss", [x[0]], (1, 1, 1))
    return table


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "networks"
    unet().write(folder / "unet_5_64.csv")
