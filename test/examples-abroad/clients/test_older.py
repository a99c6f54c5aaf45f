"""The published client basistheory 3.0.0 for Python, unchanged, against a real vault."""

import basistheory
import pytest
from basistheory.api.application_keys_api import ApplicationKeysApi
from basistheory.api.applications_api import ApplicationsApi
from basistheory.api.detokenize_api import DetokenizeApi
from basistheory.api.permissions_api import PermissionsApi
from basistheory.api.proxies_api import ProxiesApi
from basistheory.api.reactors_api import ReactorsApi
from basistheory.api.sessions_api import SessionsApi
from basistheory.api.tenants_api import TenantsApi
from basistheory.api.tokenize_api import TokenizeApi
from basistheory.api.tokens_api import TokensApi
from basistheory.exceptions import (
    ApiException,
    ForbiddenException,
    NotFoundException,
    UnauthorizedException,
)
from basistheory.model.authorize_session_request import AuthorizeSessionRequest
from basistheory.model.create_application_request import CreateApplicationRequest
from basistheory.model.create_token_request import CreateTokenRequest
from basistheory.model.search_tokens_request import SearchTokensRequest
from basistheory.model.update_application_request import UpdateApplicationRequest
from basistheory.model.update_tenant_request import UpdateTenantRequest
from basistheory.model.update_token_request import UpdateTokenRequest
from basistheory.request_options import RequestOptions


@pytest.fixture
def client_of(vault):
    def make(key):
        configuration = basistheory.Configuration(host=vault["base_url"], api_key=key)
        return basistheory.ApiClient(configuration=configuration)

    return make


@pytest.fixture
def backend(vault, client_of):
    return client_of(vault["private_key"])


@pytest.fixture
def page(vault, client_of):
    return client_of(vault["public_key"])


@pytest.fixture
def manager(vault, client_of):
    return client_of(vault["management_key"])


def create(client, options=None, **token):
    extra = {} if options is None else {"request_options": options}
    return TokensApi(client).create(create_token_request=CreateTokenRequest(**token), **extra)


def test_tokens_are_created_read_changed_and_deleted(page, backend, card):
    made = create(page, type="card", data=card, metadata={"order": "17"}, expires_at="1/1/2031")
    assert made.data["number"] == "XXXXXXXXXXXX4242"
    assert made.containers == ["/pci/high/"]
    tokens = TokensApi(backend)
    assert tokens.get_by_id(made.id).data == card
    changes = UpdateTokenRequest(metadata={"order": "18"})
    assert tokens.update(made.id, update_token_request=changes).metadata == {"order": "18"}
    tokens.delete(made.id)
    with pytest.raises(NotFoundException):
        tokens.get_by_id(made.id)


def test_refusals_are_errors_of_their_kinds(backend, manager, client_of):
    with pytest.raises(ApiException) as refused:
        create(backend, type="card", data={"number": "4242424242424241"})
    assert refused.value.status == 400
    assert "data.number" in refused.value.body
    with pytest.raises(UnauthorizedException):
        TokensApi(client_of("key_nobody")).get_by_id("some-id")
    with pytest.raises(ForbiddenException):
        TokensApi(manager).get_by_id("some-id")


def test_tokens_are_listed_and_searched_page_by_page(backend):
    ids = [f"older-{at}" for at in range(12)]
    for each in ids:
        create(backend, id=each, type="token", data=each, metadata={"kind": "older"})
    tokens = TokensApi(backend)
    listed, found = [], []
    for page in (1, 2):
        answer = tokens.get(metadata={"kind": "older"}, page=page, size=10)
        listed += [token.id for token in answer.data]
        query = SearchTokensRequest(query="metadata.kind:older", page=page, size=10)
        found += [token.id for token in tokens.search(search_tokens_request=query).data]
    assert listed == found == ids[::-1]
    assert tokens.get(metadata={"kind": "absent"}).data == []


def test_tokens_are_made_in_bulk_and_resolving_gives_nothing(backend):
    made = TokenizeApi(backend).tokenize(body={"first": {"type": "token", "data": "one"}})
    reference = {"is": "{{ %s }}" % made["first"]["id"]}
    # The client itself throws the answer away.
    assert DetokenizeApi(backend).detokenize(body=reference) is None


def test_an_idempotency_key_stays_for_the_calls_that_follow(vault, client_of):
    client = client_of(vault["private_key"])
    options = RequestOptions(idempotency_key="older-key")
    ids = {create(client, options, type="token", data=1).id for _ in range(2)}
    assert len(ids) == 1
    with pytest.raises(ApiException) as refused:
        create(client, type="token", data=2)
    assert refused.value.status == 409


def test_applications_and_their_keys_are_managed(manager, client_of):
    applications = ApplicationsApi(manager)
    wanted = CreateApplicationRequest(name="r", type="private", permissions=["token:read"])
    made = applications.create(create_application_request=wanted)
    assert made.id in [each.id for each in applications.get(size=50).data]
    assert applications.get_by_id(made.id).name == "r"
    changes = UpdateApplicationRequest(name="s", permissions=["token:read"])
    changed = applications.update(made.id, update_application_request=changes)
    assert changed.name == "s"
    new = applications.regenerate_key(made.id)
    with pytest.raises(UnauthorizedException):
        ApplicationsApi(client_of(made.key)).get_by_key()
    assert ApplicationsApi(client_of(new.key)).get_by_key().id == made.id
    keys = ApplicationKeysApi(manager)
    keys.create(made.id)
    assert [each.version for each in keys.get(made.id)] == ["3", "2"]
    applications.delete(made.id)
    with pytest.raises(NotFoundException):
        applications.get_by_id(made.id)


def test_permissions_and_the_tenant_are_read_and_changed(vault, manager):
    known = PermissionsApi(manager).get(application_type="public")
    assert [each.type for each in known] == ["token:create", "token:update"]
    tenants = TenantsApi(manager)
    assert tenants.get().id == vault["tenant_id"]
    assert tenants.update(update_tenant_request=UpdateTenantRequest(name="Shop")).name == "Shop"


def test_a_session_reads_what_its_authorizer_allowed(page, backend, client_of, card):
    session = SessionsApi(page).create()
    visitor = TokensApi(client_of(session.session_key))
    token = create(backend, type="card", data=card)
    with pytest.raises(ForbiddenException):
        visitor.get_by_id(token.id)
    grants = AuthorizeSessionRequest(nonce=session.nonce, permissions=["token:read"])
    SessionsApi(backend).authorize(authorize_session_request=grants)
    assert visitor.get_by_id(token.id).data["number"] == "XXXXXXXXXXXX4242"


def test_what_the_vault_has_not_is_told(manager):
    for ask in (ProxiesApi(manager).get, ReactorsApi(manager).get):
        with pytest.raises(NotFoundException):
            ask()
