"""Tests of a shop in Python against a real vault, with a published client of the interface family.

`coffer dev --json` starts a throw-away vault and prints one line of JSON: where it listens, and a
key of each kind. It ends with the program that started it, however that ends.

    COFFER=dist/coffer pytest examples/python
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from basis_theory import BasisTheory
from basis_theory.errors import NotFoundError

CARD = {"number": "4242424242424242", "expiration_month": 12, "expiration_year": 2030}


def start_vault():
    command = [os.environ.get("COFFER", "coffer"), "dev", "--port", "0", "--json"]
    # The client sends its key as BT-API-KEY.
    env = {**os.environ, "COFFER_HEADER_PREFIX": "BT"}
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert line, "the vault did not start: what it said stands above"
    return process, json.loads(line)


@pytest.fixture(scope="session")
def vault():
    process, facts = start_vault()
    yield facts
    process.terminate()
    assert process.wait(timeout=10) == 0


@pytest.fixture
def client_of(vault):
    return lambda key: BasisTheory(api_key=key, base_url=vault["base_url"])


def test_a_page_stores_a_card_and_the_backend_reads_it(vault, client_of):
    token = client_of(vault["public_key"]).tokens.create(type="card", data=CARD)
    assert token.data["number"] == "XXXXXXXXXXXX4242"
    backend = client_of(vault["private_key"])
    assert backend.tokens.get(token.id).data == CARD
    backend.tokens.delete(token.id)
    with pytest.raises(NotFoundError):
        backend.tokens.get(token.id)


def test_the_support_desk_sees_the_last_four_digits(vault, client_of):
    token = client_of(vault["public_key"]).tokens.create(type="card", data=CARD)
    made = client_of(vault["management_key"]).applications.create(
        name="Support desk", type="private", permissions=["token:read"]
    )
    seen = client_of(made.key).tokens.get(token.id)
    assert seen.data["number"] == "XXXXXXXXXXXX4242"


def answers(base_url):
    try:
        urllib.request.urlopen(base_url + "/tokens")
    except urllib.error.HTTPError:
        return True  # 401: nobody has sent a key.
    except OSError:
        return False
    return True


def test_the_vault_ends_when_its_parent_is_killed():
    code = "import test_cards, sys; print(test_cards.start_vault()[1]['base_url'], flush=True)"
    parent = subprocess.Popen(
        [sys.executable, "-c", code + "; sys.stdin.read()"],
        cwd=os.path.dirname(__file__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    base_url = parent.stdout.readline().strip()
    assert answers(base_url)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    end = time.monotonic() + 10
    while answers(base_url) and time.monotonic() < end:
        time.sleep(0.1)
    assert not answers(base_url)
