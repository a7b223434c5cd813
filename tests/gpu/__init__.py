"""Tests on a GPU: `pytest -m gpu tests/gpu`, from a checkout or an unpacked bundle.

MNEME_TEST_DEVICE names another device than the first GPU; with "cpu" everything that makes sense there
runs on the CPU device, which tests the tests.
"""
