"""Passwords: argon2id, computed in a thread, for one takes tens of milliseconds and as many megabytes on purpose."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from bobusang.kit import cores
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST = 10
LONGEST = 200
AT_ONCE = 2
"""Nobody fills our memory by guessing at many doors at once."""


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)  # the least that OWASP recommends


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="passwords", initializer=cores.free)


@cache
def _nobodys() -> str:
    return _hasher().hash("nobody has this password")


def check(password: str) -> None:
    """Whether it may be one."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise Invalid(f"a password has {SHORTEST} to {LONGEST} characters", field="password")
    if len(set(password)) < 4:
        raise Invalid("this password is too easily guessed", hint="use more different characters", field="password")


async def hashed(password: str) -> str:
    """What is stored."""
    check(password)
    return await asyncio.get_running_loop().run_in_executor(_threads(), _hasher().hash, password)


async def is_right(stored: str | None, password: str) -> bool:
    """Whether this is the password; takes as long where there is nobody, so that names cannot be found out."""
    from argon2.exceptions import InvalidHashError, VerificationError

    def verify() -> bool:
        try:
            _hasher().verify(stored or _nobodys(), password)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None

    if len(password) > LONGEST:
        return False
    return await asyncio.get_running_loop().run_in_executor(_threads(), verify)
