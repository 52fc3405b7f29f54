"""What Schemathesis does not know of us: bodies of lines, and the rules that no schema can say."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

if TYPE_CHECKING:
    from schemathesis import Case, CheckContext, DeserializationContext, Response, SerializationContext

NDJSON = "application/x-ndjson"
RULES = re.compile(
    "|".join(
        [
            "the cursor is not one of this list|the cursor is none of this search",  # opaque: only we can make one
            "it has changed since you read it",  # nor could anybody guess an ETag
            "needs either (ids|keys) or|needs keys, or accepted|a filter that says something",  # one of two fields
            "needs a cron|nothing to change was given|is required|is needed|needs a source",
            "differ$|is no pair|unknown currency",  # two fields that must be, or must not be, the same
            "(FULL|PARTIAL) has no stage",  # which stages there are is told by another field
            "policy has no '|the account's policy: ",  # a part of a policy, put into the one that is there
            "was used for another request",  # one Idempotency-Key, two bodies
            "is in the past|is no market category",
            "a (product|seller) has no field",  # names by commas
            "between the years 1970 and 9998|contains a NUL character|number is too large",  # databases
            "has no column|no mapping|its first line",  # what a CSV file must be like
            "is logged in to with|is called with a key alone|does not send spreadsheets",  # what a source is like
            "comes twice|cannot be kept|a term is empty|is too long$",  # terms that are the same once cleaned, or none
            "no Korean in the text|the translation (is empty|contains Korean)",  # a correction of what is translated
            "cannot be ordered by|waits for nobody|too plain to be told",  # what a picture, or a product's, is like
            # texts with a grammar of their own
            "is no cadence|should be an address|is missing|names with values|price policy cannot be read",
        ]
    )
)


OTHERS_ID = re.compile(r"^\w+_id: should be (a valid integer|greater than or equal to 1)")
"""Chains of calls take an id from an answer by its name; one that a mall gave is none of ours."""


@schemathesis.check
def valid_data_is_accepted(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
    """What fits the schema is refused only by a rule that is named above."""
    if response.status_code in (400, 412, 422):
        detail = response.json()["detail"]
        chained = case.meta is not None and case.meta.phase.name.value == "stateful"
        if RULES.search(detail) or (chained and OTHERS_ID.search(detail)):
            return None
    return positive_data_acceptance(ctx, response, case)


@schemathesis.serializer(NDJSON)
def lines(ctx: SerializationContext, value: Any) -> bytes:
    """Any text is a body of lines."""
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.deserializer(NDJSON)
def first_line(ctx: DeserializationContext, response: Response) -> Any:
    """The document says of NDJSON what one line is like; the first stands for all."""
    line = response.content.split(b"\n", 1)[0]
    return json.loads(line) if line else {"line": 1}
