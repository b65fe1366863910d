"""Settings of all tests."""

from hypothesis import settings

from tests.examples import examples

# For script/soak. By its name: where CI is set, the usual profile knows no chance.
settings.register_profile(
    "soak", max_examples=examples(100), deadline=None, derandomize=False
)
