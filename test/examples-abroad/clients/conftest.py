"""A throw-away vault that reads the headers of the published clients."""

import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def vault():
    process = subprocess.Popen(
        [os.environ["COFFER"], "dev", "--port", "0", "--json"],
        env={**os.environ, "COFFER_HEADER_PREFIX": "BT"},
        stdout=subprocess.PIPE,
        text=True,
    )
    yield json.loads(process.stdout.readline())
    process.terminate()
    assert process.wait(timeout=10) == 0


@pytest.fixture
def card():
    return {"number": "4242424242424242", "expiration_month": 12, "expiration_year": 2030}
