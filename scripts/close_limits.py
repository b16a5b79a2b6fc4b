#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names tests that took more than a fifth of their limit: on a slower or busier machine they may fail.

usage: ctest --preset PRESET --show-only=json-v1 | close_limits.py REPORT
REPORT is what ctest --output-junit wrote of the same tests.
"""
import json
import sys
import xml.etree.ElementTree

SHARE = 5  # a limit is at least so many times what its test takes


def limits_of(tests):
    """Seconds by name, of tests with a limit of their own."""
    limits = {}
    for test in tests["tests"]:
        for one in test.get("properties", []):
            if one["name"] == "TIMEOUT":
                limits[test["name"]] = float(one["value"])
    return limits


def close_limits(report, limits):
    """(seconds, limit, name) of the tests near their limits, the slowest first."""
    close = []
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name, seconds = case.get("name"), float(case.get("time", 0))
        if name in limits and SHARE * seconds > limits[name]:
            close.append((seconds, limits[name], name))
    return sorted(close, reverse=True)


def main():
    for seconds, limit, name in close_limits(sys.argv[1], limits_of(json.load(sys.stdin))):
        print(f"{name} took {seconds:.0f} s of {limit:.0f} s: make it faster, or its TIMEOUT {SHARE} times that")


if __name__ == "__main__":
    main()
