# SPDX-License-Identifier: Apache-2.0
"""Parts of make_example_trace.py."""
