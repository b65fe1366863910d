"""Tests of the benchmarks' own logic; what they measure is measured by them."""
