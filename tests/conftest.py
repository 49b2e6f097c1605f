"""Shared fixtures. Real data is reached through environment variables; without them its tests skip and say so."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("default")


def _folder(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        if os.environ.get("PWLR_REQUIRE_DATA"):
            pytest.fail(f"{variable} is not set although PWLR_REQUIRE_DATA asks for real data")
        pytest.skip(f"set {variable} to run this test on real data")
    path = Path(value)
    if not path.is_dir():
        pytest.fail(f"{variable} is set to {value}, which is not a folder")
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where real data is asked for, a data test that is skipped for any reason has failed."""
    report = yield
    if os.environ.get("PWLR_REQUIRE_DATA") and report.skipped and item.get_closest_marker("data"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although PWLR_REQUIRE_DATA asks for real data: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def data_dir() -> Path:
    return _folder("PWLR_DATA_DIR")


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    return _folder("PWLR_GOLDEN_DIR")


@pytest.fixture(scope="session")
def molecules_dir() -> Path:
    return _folder("PWLR_MOLECULES_DIR")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's name, so that a test draws the same numbers however it is run."""
    return np.random.default_rng(list(request.node.name.encode()))
