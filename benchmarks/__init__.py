"""Benchmarks: how fast it is, as ratios or against what the same run measured."""
