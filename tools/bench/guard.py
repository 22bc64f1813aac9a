#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The least counts so far, and what is above them. Run by itself, tests itself.

All are dictionaries {test: {"count, machine": value}}.
"""
import sys

ABOVE = 0.03            # by which a count may exceed the least, all changes together
BELOW = 0.01            # by which it is less for a reason; the same code differs by 0.3 %


def above(least, now):
    """The counts of NOW that are too high, as lines; all if nothing is known of a test."""
    return moved(least, now, lambda new, old: new > (1 + ABOVE) * old)


def below(least, now):
    """The counts of NOW that are so low that LEAST should have them, as lines."""
    return moved(least, now, lambda new, old: new < (1 - BELOW) * old)


def moved(least, now, is_it):
    return [f"{test}: {key} {values.get(key)}, least {old}"
            for test, values in now.items()
            for key, old in least.get(test, {"nothing stored": 0}).items()
            if key not in values or is_it(values[key], old)]


def lowered(least, now):
    """LEAST with the counts of NOW that are less or new; those of other tests are dropped."""
    return {test: {key: min(value, least.get(test, {}).get(key, value))
                   for key, value in values.items()} for test, values in now.items()}


def wrong():
    """What the functions above do not do."""
    def of(value):
        return {"t": {"n": value}}

    least, step = of(100.0), 100.0
    while step < 110:   # each step is allowed beside the last, their sum is not
        least, step = lowered(least, of(step)), step * 1.02
    cases = [
        ("the sum of small steps", above(least, of(step)), ["t: n " + str(step) + ", least 100.0"]),
        ("3 % more", above(of(100), of(103)), []),
        ("less", above(of(100), of(90)), []),
        ("a count that is missing", above(of(100), {"t": {}}), ["t: n None, least 100"]),
        ("a test that is not stored", len(above({}, of(1))), 1),
        ("a gain", below(of(100), of(98)), ["t: n 98, least 100"]),
        ("chance", below(of(100), of(99.5)), []),
        ("a gain is kept", lowered(of(100), of(98)), of(98)),
        ("a loss is not", lowered(of(100), of(102)), of(100)),
        ("a new test", lowered({}, of(5)), of(5)),
        ("a test that is gone", lowered(of(100), {}), {}),
    ]
    return [f"guard: {name}: {got}, not {wanted}" for name, got, wanted in cases if got != wanted]


if __name__ == "__main__":
    print("\n".join(wrong()), end="")
    sys.exit(bool(wrong()))
