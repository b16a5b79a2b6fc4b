# SPDX-License-Identifier: Apache-2.0
"""A probe: a knob is turned, a figure is read at each of its values, and nature says how that figure must go."""
import dataclasses
import typing

TOLERANCE = 0.01  # that of issue and page: no monotone quantity goes the wrong way by more


@dataclasses.dataclass
class Probe:
    """`measure(bench, value)` gives the figure at each of `values`; each of `laws` says what is wrong with them, or
    nothing."""

    name: str
    why: str  # a sentence: what nature does
    values: list
    measure: typing.Callable
    laws: list

    def wrong(self, bench):
        """Sentences, none if the probe holds, and the figures."""
        figures = bench.all(lambda value: self.measure(bench, value), self.values)
        found = [said for law in self.laws for said in law(self.values, figures)]
        return found, figures


def show(value):
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def never_rises(values, figures, tolerance=TOLERANCE):
    """No figure is above the least one before it."""
    least, where = figures[0], values[0]
    for value, figure in zip(values[1:], figures[1:]):
        if figure > least * (1 + tolerance):
            yield f"{show(figure)} at {value} after {show(least)} at {where}: {100 * (figure / least - 1):.1f} % up"
        if figure < least:
            least, where = figure, value


def never_falls(values, figures, tolerance=TOLERANCE):
    """No figure is below the largest one before it."""
    most, where = figures[0], values[0]
    for value, figure in zip(values[1:], figures[1:]):
        if figure < most * (1 - tolerance):
            yield f"{show(figure)} at {value} after {show(most)} at {where}: {100 * (1 - figure / most):.1f} % down"
        if figure > most:
            most, where = figure, value


def same(values, figures, tolerance=TOLERANCE):
    """All figures are equal."""
    least, most = min(figures), max(figures)
    if most > least * (1 + tolerance):
        yield (f"{show(least)} at {values[figures.index(least)]}, {show(most)} at {values[figures.index(most)]}: "
               f"{100 * (most / least - 1):.1f} % apart")


def moves(factor):
    """The knob does something: the first figure over the last one, or the other way round, is at least `factor`."""
    def law(values, figures):
        first, last = figures[0], figures[-1]
        if max(first, last) < factor * min(first, last):
            yield f"{show(first)} at {values[0]}, {show(last)} at {values[-1]}: less than {factor} apart"
    return law


def at_most(bound, tolerance=TOLERANCE):
    """No figure is above `bound`, a number or a function of the value."""
    def law(values, figures):
        for value, figure in zip(values, figures):
            limit = bound(value) if callable(bound) else bound
            if figure > limit + tolerance * abs(limit):
                yield f"{show(figure)} at {value}, where at most {show(limit)} can be"
    return law


def equals(formula, tolerance=TOLERANCE):
    """Every figure is that of a closed form."""
    def law(values, figures):
        for value, figure in zip(values, figures):
            expected = formula(value)
            if abs(figure - expected) > tolerance * abs(expected):
                yield f"{show(figure)} at {value}, where the closed form gives {show(expected)}"
    return law


def grows_no_faster(values, figures, tolerance=TOLERANCE):
    """Of numbers: twice the work in one go takes no longer than one after the other."""
    for before, after, low, high in zip(values, values[1:], figures, figures[1:]):
        if high > low * (after / before) * (1 + tolerance):
            yield f"{show(low)} at {before}, {show(high)} at {after}: {high / low:.2f} times for {after / before:.2f} times the work"


def holds(values, figures):
    """Each figure is True."""
    for value, figure in zip(values, figures):
        if figure is not True:
            yield f"{value}: {figure}"
