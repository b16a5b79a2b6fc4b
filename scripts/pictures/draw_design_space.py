# SPDX-License-Identifier: Apache-2.0
"""Pictures of docs/notebook/unit_design_space.md: what a unit gives back by its area, by size and generation, and by bucket."""
import math

import design_space
import svg

WIDTH, HEIGHT, LEFT, TOP = 330, 220, 52, 46
PROGRAM = None  # set by make_pictures
STEP = "resnet18 25 MiB"


def axes(picture, left, title, xs, ys, x_words, y_words):
    """A chart's frame; xs, ys: (value, place from 0 to 1, words)."""
    bottom = TOP + HEIGHT
    picture.text(left - LEFT + 8, 20, title, 12, bold=True)
    picture.text(left - LEFT + 8, 36, f"{y_words}, by {x_words}", 10, svg.FAINT)
    for place, words in ys:
        y = bottom - place * HEIGHT
        picture.line([(left, y), (left + WIDTH, y)], svg.LINE)
        picture.text(left - 6, y + 4, words, 9, svg.FAINT, "end")
    for place, words in xs:
        picture.text(left + place * WIDTH, bottom + 15, words, 9, svg.FAINT, "middle")


def legend(picture, left, names):
    for i, name in enumerate(names):
        x, y = left - LEFT + 12 + i % 2 * 190, TOP + HEIGHT + 28 + i // 2 * 16
        picture.rect(x, y, 10, 10, svg.COLORS[i % len(svg.COLORS)])
        picture.text(x + 15, y + 9, name, 10, svg.FAINT)


def draw_front(picture, left, points, area):
    """Designs of an HGX H100, by mode, with the front of each."""
    series = {mode: design_space.pareto(points, area, STEP, 8, mode) for mode in design_space.UNITS}
    every = [design for of_mode in series.values() for design in of_mode]
    low, high = math.log(min(a for a, _, _ in every) * 0.8), math.log(max(a for a, _, _ in every) * 1.25)
    place_x = lambda a: (math.log(a) - low) / (high - low)
    floor = min(0, math.floor(min(g for _, g, _ in every) * 5) / 5)
    place_y = lambda g: (g - floor) / (1 - floor)
    ticks = [t * 10**p for p in range(-3, 4) for t in (1, 2, 5) if low <= math.log(t * 10**p) <= high]
    axes(picture, left, "an HGX H100's units, ResNet-18",
         [(place_x(t), f"{t:g}") for t in ticks],
         [(place_y(floor + i * (1 - floor) / 4), f"{100 * (floor + i * (1 - floor) / 4):.0f} %") for i in range(5)],
         "area of all units, mm2 at 7 nm, low end", "backward slowdown recovered")
    for i, (mode, designs) in enumerate(series.items()):
        for a, gain, _ in designs:
            picture.circle(left + place_x(a) * WIDTH, TOP + HEIGHT * (1 - place_y(gain)), 2.2, svg.COLORS[i])
        picture.line([(left + place_x(a) * WIDTH, TOP + HEIGHT * (1 - place_y(gain)))
                      for a, gain, _ in design_space.front(designs)], svg.COLORS[i], 1.4)
    legend(picture, left, list(series))


def draw_sizes(picture, left, points):
    """The best unit against the best software, by size, a line a generation."""
    lines = {}
    for machine, (ranks, words) in design_space.GENERATIONS.items():
        design = design_space.own_design(machine)
        of_sizes = design_space.gains(points, design, ranks)
        if of_sizes:
            lines[words] = [(math.log2(design_space.bytes_of(size)), gain["any"]) for size, gain in of_sizes.items()]
    low, high = 12, 28
    most = math.log2(max(g for line in lines.values() for _, g in line) * 1.1)
    least = math.log2(min(0.7, min(g for line in lines.values() for _, g in line)))
    place_y = lambda g: (math.log2(g) - least) / (most - least)
    axes(picture, left, "all-reduces, the best mode",
         [((x - low) / (high - low), f"{1 << (x - 10)} KiB" if x < 20 else f"{1 << (x - 20)} MiB") for x in range(12, 29, 4)],
         [(place_y(g), f"{g:g}x") for g in (0.5, 1, 2, 4, 8, 16, 32, 64) if least <= math.log2(g) <= most],
         "size", "software's time over the unit's")
    for i, line in enumerate(lines.values()):
        picture.line([(left + (x - low) / (high - low) * WIDTH, TOP + HEIGHT * (1 - place_y(g))) for x, g in line],
                     svg.COLORS[i % len(svg.COLORS)], 1.6)
    legend(picture, left, list(lines))


def draw_buckets(picture, left, points):
    """Backward slowdown recovered by bucket, resnet18, a line a machine."""
    lines = {}
    for machine, (ranks, words) in design_space.GENERATIONS.items():
        line = []
        for point in design_space.steps_of(points, machine, ranks, design_space.step_design(machine)):
            network, _, bucket = point.work.partition(" ")
            share = design_space.recovered(point, "any")
            if network == "resnet18" and share is not None:
                line.append((math.log2(design_space.bytes_of(bucket)), share))
        if line:
            lines[words] = sorted(line)
    low, high = 20, 27
    axes(picture, left, "steps of ResNet-18, the best mode",
         [((x - low) / (high - low), f"{1 << (x - 20)} MiB") for x in range(20, 28, 2)],
         [(i / 4, f"{25 * i} %") for i in range(5)], "bucket", "backward slowdown recovered")
    for i, line in enumerate(lines.values()):
        places = [(left + (x - low) / (high - low) * WIDTH, TOP + HEIGHT * (1 - max(0, share))) for x, share in line]
        picture.line(places, svg.COLORS[i % len(svg.COLORS)], 1.6)
        for x, y in places:
            picture.circle(x, y, 2.2, svg.COLORS[i % len(svg.COLORS)])
    legend(picture, left, list(lines))


def one(draw_it, *arguments):
    picture = svg.Svg(LEFT + WIDTH + 24, TOP + HEIGHT + 98, "unit_design_space")
    draw_it(picture, LEFT, *arguments)
    return str(picture)


def draw(folder):
    points, systems = design_space.read(folder)
    area = design_space.areas(systems, PROGRAM)
    across = LEFT + WIDTH + 24
    picture = svg.Svg(3 * across, TOP + HEIGHT + 98, folder.name)
    draw_front(picture, LEFT, points, area)
    draw_sizes(picture, LEFT + across, points)
    draw_buckets(picture, LEFT + 2 * across, points)
    return str(picture)


def pieces(folder):
    points, systems = design_space.read(folder)
    area = design_space.areas(systems, PROGRAM)
    return {"unit_design_space_front": one(draw_front, points, area),
            "unit_design_space_sizes": one(draw_sizes, points),
            "unit_design_space_buckets": one(draw_buckets, points)}
