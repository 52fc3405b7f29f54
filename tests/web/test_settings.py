"""Settings: people and keys by an admin's hand, connections that are asked, the system as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.entry.api.keys import listed
from bobusang.entry.people import users
from bobusang.views import audit
from bobusang.views.audit import AuditFilter
from tests.web.screen import opened
from tests.web.shop import copied

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.entry.people.users import User
    from tests.web.screen import Screen

PEOPLE, KEYS, SYSTEM = "/settings/people", "/settings/keys", "/settings/system"


async def person(screen: Screen, name: str) -> User:
    async with screen.app.engine.db.read() as tx:
        return next(user for user in await users.listed(tx) if user.name == name)


async def acts(screen: Screen) -> list[str]:
    async with screen.app.engine.db.read() as tx:
        return [act.action for act in (await audit.acts(tx, AuditFilter(), None, 3)).lines]


async def test_an_invitation_is_shown_once_and_opens(screen: Screen) -> None:
    page = await screen.admin.post(PEOPLE, on=PEOPLE, role="operator")
    link = page.tree.css("#secret")[0].attributes["value"] or ""
    again = await screen.admin.get(PEOPLE)
    welcome = await screen.stranger.get(link.removeprefix("https://shop.test/ui"))

    assert (page.status, again.tree.css("#secret")) == (200, [])
    assert "You will be: operator." in welcome.text()
    assert await acts(screen) == ["user.invite", *(await acts(screen))[1:]]


async def test_a_password_link_names_whose_it_is(screen: Screen) -> None:
    viewer = await person(screen, "the viewer")

    page = await screen.admin.post(PEOPLE, on=PEOPLE, user=viewer.id)

    assert page.text(".once p").startswith("Send this link to the viewer")


async def test_a_role_is_changed_at_once(screen: Screen) -> None:
    viewer = await person(screen, "the viewer")
    refused = await screen.viewer.get("/runs/new")

    page = await screen.admin.post(f"{PEOPLE}/{viewer.id}/role", on=PEOPLE, role="operator")

    assert refused.status == 403
    assert page.text(".said") == "The role of the viewer was changed."
    assert (await screen.viewer.get("/runs/new")).status == 200


async def test_who_is_shut_out_is_out_and_comes_in_again(screen: Screen) -> None:
    operator = await person(screen, "the operator")

    out = await screen.admin.post(f"{PEOPLE}/{operator.id}/disable", on=PEOPLE)
    door = await screen.operator.get("/runs")
    back = await screen.admin.post(f"{PEOPLE}/{operator.id}/enable", on=PEOPLE)

    assert out.text(".said") == "the operator is shut out."
    assert out.text(f"#user-{operator.id} .pill") == "shut out"
    assert door.url == "https://shop.test/ui/sign-in"
    assert back.text(f"#user-{operator.id} .pill") == "may come in"


async def test_the_last_admin_stays(screen: Screen) -> None:
    admin = await person(screen, "the admin")

    page = await screen.admin.post(f"{PEOPLE}/{admin.id}/disable", on=PEOPLE)

    assert page.text(".said.refused") == "'the admin' is the last admin (make another one first)"


async def test_a_key_is_shown_once_opens_and_is_revoked(screen: Screen) -> None:
    page = await screen.admin.post(KEYS, on=KEYS, name="a till", role="viewer")
    key = page.tree.css("#secret")[0].attributes["value"] or ""
    asked = await screen.stranger.client.get("/jobs", headers={"authorization": f"Bearer {key}"})
    async with screen.app.engine.db.read() as tx:
        made = (await listed(tx, None, 1))[0]
    done = await screen.admin.post(f"{KEYS}/{made.id}/revoke", on=KEYS)
    refused = await screen.stranger.client.get("/jobs", headers={"authorization": f"Bearer {key}"})

    assert (asked.status_code, refused.status_code) == (200, 401)
    assert done.texts(f"#key-{made.id} > *")[:4] == ["a till", f"{made.prefix}…", "viewer", "revoked"]
    assert key not in done.html
    assert done.text(".said") == f"Key {made.id} was revoked. Whoever uses it is refused from now on."


async def test_a_key_without_a_name_is_refused_in_words(screen: Screen) -> None:
    page = await screen.admin.post(KEYS, on=KEYS, name="")

    assert page.text(".said.refused") == "name: Field required"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("database", "The database answers within"),
        ("blobs", "The store of pages and pictures can be written"),
        ("search", "The search index answers within"),
        ("cache", "The cache answers within"),
        ("limiter", "The limiter answers within"),
    ],
)
async def test_a_connection_that_answers_says_so(screen: Screen, part: str, said: str) -> None:
    page = await screen.operator.post("/settings/test", on="/settings", part=part)

    assert page.text(".said.done").startswith(said)


async def test_a_connection_that_does_not_answer_says_why(screen: Screen) -> None:
    market = await screen.operator.post("/settings/test", on="/settings", part="market", account="buyma/bobusang")
    slack = await screen.operator.post("/settings/test", on="/settings", part="slack")

    assert market.text(".said.refused")
    assert slack.text(".said.refused").startswith("BOBUSANG_SLACK_WEBHOOK_URL is not set")


async def test_settings_say_where_they_come_from_to_admins_only(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOBUSANG_LOG_LEVEL", "WARNING")

    admin, viewer = await screen.admin.get("/settings"), await screen.viewer.get("/settings")
    line = next(row for row in admin.tree.css("tr") if row.text().startswith("BOBUSANG_LOG_LEVEL"))

    assert [cell.text() for cell in line.css("td")] == [screen.app.settings.log_level, "BOBUSANG_LOG_LEVEL"]
    assert admin.texts(".tabs a") == ["Connections", "People", "API keys", "System", "Licences"]
    assert viewer.texts(".tabs a") == ["Connections", "System", "Licences"]
    assert "BOBUSANG_LOG_LEVEL" not in viewer.html
    assert viewer.texts("main button") == []


async def test_the_system_says_how_it_stands(screen: Screen) -> None:
    page = await screen.viewer.get(SYSTEM)

    assert page.texts(".figure .label") == ["Version", "Database", "Disk free", "Open live pages"]
    assert page.texts("section h2") == ["Workers", "Queues", "Search index", "Cache of search answers"]


async def test_a_cache_that_is_away_is_said_where_its_figures_stand(shop: Path, tmp_path: Path) -> None:
    async with opened(copied(shop, tmp_path), cache_url="redis://127.0.0.1:1") as screen:
        page = await screen.viewer.get(SYSTEM)

    assert page.status == 200
    assert [said.partition(":1 is away")[0] for said in page.texts(".bad-text")] == ["the cache at redis://127.0.0.1"]


async def test_the_index_is_compared_and_made_anew(screen: Screen) -> None:
    same = await screen.operator.post("/settings/index/verify", on=SYSTEM)
    anew = await screen.operator.post("/settings/index/rebuild", on=SYSTEM)
    asked = await screen.viewer.get(SYSTEM)
    await screen.app.finder.rebuilding.heal()
    done = await screen.viewer.get(SYSTEM)
    forgotten = await screen.operator.post("/settings/cache/forget", on=SYSTEM)

    assert "products compared" in same.text(".said")
    assert anew.text(".said") == "The search index is made anew. The old one serves until that is done."
    assert asked.text("#rebuild p") == "The index is being made anew: 0 of 0 products."
    assert done.text("#rebuild p").startswith("The last rebuild is done: ")
    assert "kept answers were forgotten." in forgotten.text(".said")


async def test_licences_name_whose_work_this_is(screen: Screen) -> None:
    page = await screen.viewer.get("/settings/licences")

    assert {"fastapi", "SQLAlchemy"} <= set(page.texts("tbody th"))
    assert page.texts("main li") == ["echarts", "htmx.org", "tslib", "uplot", "zrender"]
