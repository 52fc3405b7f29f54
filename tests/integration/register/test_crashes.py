"""Whatever dies and whatever is lost: one product for each listing, and in the end it is as it was wanted.

Chance finds what nobody thought of; the stories are what must be found on every day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.money import yen
from bobusang.stages.register.model import Stock
from tests.integration.register.machine import GROWN, explore, tell
from tests.integration.register.wire import Mood
from tests.unit.register.making import stocks

if TYPE_CHECKING:
    from tests.integration.register.machine import Step


def step(name: str, **given: Any) -> Step:
    return name, given


PLAN, RECOVER, SEND, SETTLE = step("plan", dies=False), step("recover"), step("send"), step("settle")
GO, RESEND, TOLD, APPLY, DIE = step("go"), step("resend"), step("told"), step("apply", dies=False), step("die")
LAND, SOON, WAIT = step("land"), step("later", minutes=2), step("later", minutes=0.2)
LISTED, ONE = (GO, TOLD), step("sends", count=1)
CHEAPER = step("wish", id=1, wish={"price": yen(21_000)})
GONE = step("wish", id=1, wish={"variants": stocks(Stock.OUT)})
MORE = step("wish", id=1, wish=GROWN)
ONE_GONE = step("wish", id=1, wish={"variants": stocks(c1_s1=Stock.OUT)})
BACK = step("wish", id=1, wish={"variants": stocks()})


def deliver(place: int, fate: str = "delivered") -> Step:
    return step("deliver", place=place, fate=fate)


def feel(mood: Mood) -> Step:
    return step("feel", mood=mood)


STORIES: dict[str, tuple[Step, ...]] = {
    "nothing goes wrong": (*LISTED, CHEAPER, GO, TOLD, GONE, GO, TOLD, BACK, GO, TOLD),
    "it dies before the commit": (step("plan", dies=True), GO, step("all_webhooks"), step("apply", dies=True), APPLY),
    "it dies before sending": (PLAN, DIE, RESEND, SEND, SETTLE, TOLD),
    "it dies before settling": (PLAN, SEND, DIE, RESEND, SEND, SETTLE, TOLD),
    "a slow sender comes back after another has taken over": (PLAN, SEND, RESEND, SETTLE, SEND, SETTLE, TOLD),
    "a slow sender comes back when its time is over": (PLAN, step("later", minutes=2), SEND, SETTLE, RESEND, SEND),
    "a slow answer is not overtaken": (PLAN, SEND, step("later", minutes=2), RECOVER, SETTLE, RECOVER, SEND, TOLD),
    "it is not sent again before its time": (GO, step("later", minutes=2), RECOVER, SEND, SETTLE, RECOVER, TOLD),
    "every answer is lost": (feel(Mood.MUTE), GO, RESEND, SEND, SETTLE, TOLD),
    "it never arrives": (feel(Mood.DEAF), GO, RESEND, SEND, SETTLE, feel(Mood.FINE), RESEND, SEND, SETTLE, TOLD),
    "it arrives late": (*LISTED, CHEAPER, feel(Mood.LATE), GO, GONE, feel(Mood.FINE), GO, TOLD, RESEND, TOLD),
    "too many calls, then again": (feel(Mood.BUSY), GO, PLAN, step("later", minutes=40), feel(Mood.FINE), GO, TOLD),
    "too many calls, when sent again": (feel(Mood.MUTE), GO, feel(Mood.BUSY), RESEND, SEND, SETTLE, PLAN, TOLD),
    "a webhook comes twice": (GO, deliver(0, "doubled"), deliver(0, "doubled"), APPLY, TOLD),
    "a webhook is lost": (GO, deliver(0, "lost"), deliver(0, "lost"), APPLY, RESEND, SEND, SETTLE, TOLD),
    "a webhook is forged": (GO, deliver(0, "forged"), APPLY, TOLD),
    "two words on one listing come at once": (GO, RESEND, SEND, SETTLE, TOLD),
    "an older word comes last": (GO, RESEND, SEND, SETTLE, deliver(3), deliver(2), APPLY, TOLD),
    "an older word does not confirm a newer call": (
        *(GO, RESEND, SEND, SETTLE, deliver(0), deliver(0), APPLY),
        *(CHEAPER, feel(Mood.DEAF), GO, TOLD, feel(Mood.FINE), RESEND, SEND, SETTLE, TOLD),
    ),
    "the calls of a day are used up": (feel(Mood.MUTE), GO, *((RESEND, SEND, SETTLE) * 20), TOLD),
    "it sells out while an edit waits for its verdict": (*LISTED, CHEAPER, GO, GONE, PLAN, ONE, SEND, SETTLE, TOLD),
    "it sells out while an edit is not sent yet": (*LISTED, CHEAPER, PLAN, GONE, PLAN, SEND, SETTLE, TOLD, GO, TOLD),
    "it sells out while the answer is lost": (*LISTED, CHEAPER, feel(Mood.MUTE), GO, GONE, GO, DIE, RESEND, SEND, TOLD),
    "a verdict comes while it is about to be sent again": (*LISTED, CHEAPER, GO, RESEND, TOLD, GONE, PLAN, SEND, TOLD),
    "an older call's failure comes when a newer call's answer was lost": (
        *(*LISTED, step("repicture", id=1, broken=True), GO, GONE, feel(Mood.MUTE), GO, deliver(0), APPLY),
        *(feel(Mood.FINE), RESEND, SEND, SETTLE, TOLD),
    ),
    "an older call's failure comes when both answers were lost": (
        *(*LISTED, step("repicture", id=1, broken=True), feel(Mood.MUTE), GO, GONE, GO, deliver(0), APPLY),
        *(feel(Mood.FINE), RESEND, SEND, SETTLE, TOLD),
    ),
    "it sells out while a size is added": (*LISTED, MORE, GO, GONE, GO, TOLD),
    "it sells out while a size is added, and the words come in the other order": (
        *(*LISTED, MORE, GO, GONE, GO, deliver(1), APPLY, deliver(0), APPLY, GO, TOLD),
    ),
    "it sells out while a size is added, and no answer comes": (
        *(*LISTED, MORE, feel(Mood.MUTE), GO, GONE, GO, DIE, feel(Mood.FINE), RESEND, SEND, TOLD),
    ),
    "it sells out while a size is added that never arrives": (
        *(*LISTED, MORE, feel(Mood.DEAF), GO, GONE, feel(Mood.FINE), GO, TOLD),
    ),
    "one sells out while a size is added": (*LISTED, MORE, GO, ONE_GONE, GO, TOLD, GO, TOLD),
    "an edit is done after the closing that overtook it": (
        *(*LISTED, CHEAPER, feel(Mood.SLOW), GO, GONE, GO, TOLD, LAND, TOLD),
        *(step("close_again"), ONE, SEND, SETTLE, TOLD, step("close_again"), step("sends", count=0)),
    ),
    "an edit is done after a size that sold out meanwhile, and the words come in the other order": (
        *(*LISTED, CHEAPER, feel(Mood.SLOW), GO, ONE_GONE, GO, LAND, deliver(1), APPLY, deliver(0), APPLY),
        *(step("close_again"), step("sends", count=0), RESEND, SEND, SETTLE, TOLD),
    ),
    "a size is added after it sold out": (*LISTED, MORE, feel(Mood.SLOW), GO, GONE, GO, TOLD, LAND, TOLD),
    "it sells out after the sender of an edit died, who had sent it": (
        *(*LISTED, CHEAPER, PLAN, SEND, DIE, GONE, SOON, PLAN, ONE, SEND, SETTLE, TOLD),
    ),
    "it sells out after the sender of an edit died, who had not sent it": (
        *(*LISTED, CHEAPER, PLAN, DIE, GONE, SOON, PLAN, ONE, SEND, SETTLE, TOLD, RESEND, step("sends", count=0)),
    ),
    "the sender of an edit comes back after a stock-out overtook it, and has not sent it": (
        *(*LISTED, CHEAPER, PLAN, GONE, SOON, PLAN, step("sends", count=2), SEND, SETTLE, TOLD),
    ),
    "the sender of an edit comes back after a stock-out overtook it, with the answer": (
        *(*LISTED, CHEAPER, PLAN, SEND, GONE, SOON, PLAN, SETTLE, ONE, SEND, SETTLE, TOLD),
    ),
    "the word on an edit comes between the stock-out's intent and its send": (
        *(*LISTED, CHEAPER, PLAN, SEND, DIE, GONE, SOON, PLAN, TOLD, ONE, SEND, SETTLE, TOLD),
    ),
    "an edit whose sender died is done after the stock-out that overtook it": (
        *(*LISTED, CHEAPER, feel(Mood.SLOW), PLAN, SEND, DIE, GONE, *[WAIT] * 5, GO),
        *(TOLD, LAND, TOLD, step("close_again"), ONE, SEND, SETTLE, TOLD),
    ),
    "it sells out after the sender of a new size died, who had sent it": (
        *(*LISTED, MORE, PLAN, SEND, DIE, GONE, SOON, PLAN, ONE, SEND, SETTLE, TOLD),
    ),
    "it sells out after the sender of a new size died, who had not sent it": (
        *(*LISTED, MORE, PLAN, DIE, GONE, SOON, PLAN, ONE, SEND, SETTLE, TOLD),
    ),
    "the sender of a stock-out dies": (*LISTED, GONE, PLAN, DIE, SOON, RECOVER, ONE, SEND, SETTLE, TOLD),
    "the sender of a stock-out dies twice": (
        *(*LISTED, GONE, PLAN, SEND, DIE, SOON, RECOVER, DIE, SOON, RECOVER, step("sends", count=0), RESEND, SEND),
        *(SETTLE, TOLD),
    ),
    "the sender of a stock-out comes back after another has taken over": (
        *(*LISTED, GONE, PLAN, SEND, SOON, RECOVER, SETTLE, ONE, SEND, SETTLE, TOLD),
    ),
    "pictures cannot be had": (
        *(step("repicture", id=1, broken=True), GO, TOLD, RESEND, GO, TOLD),
        *(step("repicture", id=1, broken=False), GO, TOLD),
    ),
}


@pytest.mark.parametrize("steps", STORIES.values(), ids=STORIES)
def test_what_must_be_found_every_day(empty_sqlite: str, steps: tuple[Step, ...]) -> None:
    tell(empty_sqlite, *steps)


def test_no_crash_and_no_loss_makes_a_second_product(empty_sqlite: str) -> None:
    explore(empty_sqlite, examples=15, steps=30)
