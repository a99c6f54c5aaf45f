"""The published client BasisTheoryClient 7.4.0 for Python, unchanged, against a real vault."""

from datetime import datetime, timezone

import pytest
from basis_theory import BasisTheory
from basis_theory.core.api_error import ApiError
from basis_theory.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    UnauthorizedError,
)


@pytest.fixture
def client_of(vault):
    return lambda key: BasisTheory(api_key=key, base_url=vault["base_url"], max_retries=0)


@pytest.fixture
def backend(vault, client_of):
    return client_of(vault["private_key"])


@pytest.fixture
def page(vault, client_of):
    return client_of(vault["public_key"])


@pytest.fixture
def manager(vault, client_of):
    return client_of(vault["management_key"])


def test_tokens_are_created_read_changed_and_deleted(page, backend, card):
    made = page.tokens.create(
        type="card", data=card, metadata={"order": "17"}, expires_at="1/1/2031"
    )
    assert made.data["number"] == "XXXXXXXXXXXX4242"
    assert made.containers == ["/pci/high/"]
    assert made.expires_at == datetime(2031, 1, 1, tzinfo=timezone.utc)
    assert backend.tokens.get(made.id).data == card
    changed = backend.tokens.update(made.id, metadata={"order": "18"})
    assert changed.metadata == {"order": "18"}
    assert changed.modified_at is not None
    backend.tokens.delete(made.id)
    with pytest.raises(NotFoundError):
        backend.tokens.get(made.id)


def test_refusals_are_errors_of_their_kinds(backend, manager, client_of):
    with pytest.raises(BadRequestError) as refused:
        backend.tokens.create(type="card", data={"number": "4242424242424241"})
    assert list(refused.value.body.errors) == ["data.number"]
    with pytest.raises(UnauthorizedError):
        client_of("key_nobody").tokens.get("some-id")
    with pytest.raises(ForbiddenError):
        manager.tokens.get("some-id")
    backend.tokens.create(id="current-twice", type="token", data=1)
    with pytest.raises(ConflictError):
        backend.tokens.create(id="current-twice", type="token", data=2)


def test_tokens_are_listed_and_searched_page_by_page(backend):
    ids = [f"current-{at}" for at in range(25)]
    for each in ids:
        backend.tokens.create(id=each, type="token", data=each, metadata={"kind": "current"})
    newest = ids[::-1]
    listed = backend.tokens.list_v2(metadata={"kind": "current"}, size=10)
    assert [token.id for token in listed] == newest
    found = backend.tokens.search_v2(query="metadata.kind:current", size=7)
    assert [token.id for token in found] == newest
    assert list(backend.tokens.search_v2(query="metadata.kind:absent")) == []


def test_tokens_are_made_and_resolved_in_bulk(backend):
    made = backend.tokens.tokenize(request={"first": {"type": "token", "data": "one"}})
    shown = backend.tokens.detokenize(request={"is": "{{ %s }}" % made["first"]["id"]})
    assert shown == {"is": "one"}


def test_a_create_under_an_idempotency_key_is_done_once(backend):
    ids = {
        backend.tokens.create(type="token", data=1, idempotency_key="current-key").id
        for _ in range(2)
    }
    assert len(ids) == 1


def test_applications_and_their_keys_are_managed(manager, client_of):
    made = manager.applications.create(name="r", type="private", permissions=["token:read"])
    assert manager.applications.get(made.id).key is None
    listed = [each.id for each in manager.applications.list(size=1)]
    assert made.id in listed and len(set(listed)) == len(listed)
    changed = manager.applications.update(made.id, name="s", permissions=["token:read"])
    assert changed.name == "s"
    second = manager.application_keys.create(made.id)
    assert [each.version for each in manager.application_keys.list(made.id)] == ["2", "1"]
    manager.application_keys.delete(made.id, second.id)
    with pytest.raises(UnauthorizedError):
        client_of(second.key).applications.get_by_key()
    assert client_of(made.key).applications.get_by_key().id == made.id
    manager.applications.delete(made.id)
    with pytest.raises(NotFoundError):
        manager.applications.get(made.id)


def test_permissions_and_the_tenant_are_read_and_changed(vault, manager):
    known = manager.permissions.list(application_type="public")
    assert [each.type for each in known] == ["token:create", "token:update"]
    assert manager.tenants.self_.get().id == vault["tenant_id"]
    assert manager.tenants.self_.update(name="Shop").name == "Shop"


def test_a_session_reads_what_its_authorizer_allowed(page, backend, client_of, card):
    session = page.sessions.create()
    visitor = client_of(session.session_key)
    token = backend.tokens.create(type="card", data=card)
    with pytest.raises(ForbiddenError):
        visitor.tokens.get(token.id)
    backend.sessions.authorize(nonce=session.nonce, permissions=["token:read"])
    assert visitor.tokens.get(token.id).data["number"] == "XXXXXXXXXXXX4242"


def test_what_the_vault_has_not_is_told(manager, page, card):
    for ask in (
        lambda: list(manager.proxies.list()),
        lambda: list(manager.reactors.list()),
        lambda: page.token_intents.create(type="card", data=card),
    ):
        with pytest.raises(ApiError) as refused:
            ask()
        assert refused.value.status_code == 404
