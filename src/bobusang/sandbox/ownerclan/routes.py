"""Where Ownerclan's login and its GraphQL are, on hosts of their own, and who gets what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.sandbox.desk import Asked, Route
from bobusang.sandbox.fault import Mishap
from bobusang.sandbox.ownerclan import listing
from bobusang.sandbox.ownerclan.graphql import GraphError, Operation, filled, parse, selected
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, data

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLAIN = "text/plain; charset=utf-8"


def _login(asked: Asked) -> Reply:
    """The bare JWT, as text; no JSON around it."""
    try:
        told = json.loads(asked.body)
    except Invalid:
        return Reply(b"Bad Request", PLAIN, 400)
    if not isinstance(told, dict) or (told.get("service"), told.get("userType")) != ("ownerclan", "seller"):
        return Reply(b"Bad Request", PLAIN, 400)
    token = asked.desk.tokens.issue(str(told.get("username", "")), str(told.get("password", "")))
    return Reply(b"Unauthorized", PLAIN, 401) if token is None else Reply(token.encode(), PLAIN)


def _query(asked: Asked) -> Reply:
    """By GET: queries alone."""
    return _answer(asked, {"query": asked.query.get("query", "")}, mutates=False)


def _posted(asked: Asked) -> Reply:
    try:
        told = json.loads(asked.body)
    except Invalid:
        return _refused("the body is not JSON")
    return _answer(asked, told if isinstance(told, dict) else {}, mutates=True)


def _answer(asked: Asked, told: Mapping[str, Any], *, mutates: bool) -> Reply:
    scheme, _, token = asked.request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return _refused("Unauthorized", 401)
    if problem := asked.desk.tokens.problem(token.strip()):
        return _refused(problem)  # with HTTP 200, as every error
    variables = told.get("variables") or {}
    try:
        operation = parse(str(told.get("query", "")))
        if operation.kind == "mutation" and not mutates:
            raise GraphError("Can only perform a mutation operation from a POST request.")
        found = {each.alias: _resolved(asked, operation, each, variables) for each in operation.fields}
    except GraphError as error:
        return _refused(str(error))
    if asked.hit is not None and asked.hit.fault.kind == Mishap.HALF_DATA:
        name = operation.fields[0].alias
        found, errors = listing.halved(found, name)
        return data({"errors": errors, "data": found})
    return data({"data": found})


def _resolved(asked: Asked, operation: Operation, field: Any, variables: Mapping[str, Any]) -> Any:
    roots = _mutations(asked) if operation.kind == "mutation" else _queries(asked)
    if field.name not in roots:
        kind = "Mutation" if operation.kind == "mutation" else "Query"
        raise GraphError(f'Cannot query field "{field.name}" on type "{kind}".')
    found = roots[field.name](filled(field.arguments, operation, variables))
    return selected(found, field.inner, field.name)


def _queries(asked: Asked) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
    scene = asked.scene
    return {
        "item": lambda told: listing.item(scene, told),
        "itemsByKeys": lambda told: listing.by_keys(scene, told),
        "allItems": lambda told: listing.items(scene, told),
        "itemHistories": lambda told: listing.histories(scene, told),
        "order": asked.desk.orders.order,
    }


def _mutations(asked: Asked) -> dict[str, Callable[[Mapping[str, Any]], Any]]:
    scene, orders = asked.scene, asked.desk.orders
    return {
        "createOrder": lambda told: orders.create(scene, told),
        "simulateCreateOrder": lambda told: orders.simulate(scene, told),
    }


def _refused(message: str, status: int = 200) -> Reply:
    return data({"errors": [{"message": message}]}, status)


def _picture(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route("/ownerclan/v1/graphql", "ownerclan", "graphql", _query),
    Route("/ownerclan/image/{path:.+}", "ownerclan", "image", _picture),
)
POSTS = (
    Route("/ownerclan/auth/auth", "ownerclan", "login", _login),
    Route("/ownerclan/v1/graphql", "ownerclan", "graphql", _posted),
)
