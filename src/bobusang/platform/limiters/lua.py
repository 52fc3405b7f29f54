"""The bucket's arithmetic as Redis runs it, in one step and by the server's own clock.

Numbers are whole and below 2^53, so Lua's are exact; fmod, for Lua's own % divides first and rounds. A bucket is kept
as "parts at token" until it would be full again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.platform.limiter import LARGEST

if TYPE_CHECKING:
    from bobusang.platform.limiter import Limit

TAKE, GIVE_BACK, DRAIN = "take", "give_back", "drain"

SCRIPT = """
local what, number, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[6])
local token, gain, most = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function whole(parts, size) return (parts - math.fmod(parts, size)) / size end

local parts, at = most, now
local kept = redis.call('GET', KEYS[1])
if kept then
  local had, when, size = string.match(kept, '^(%d+) (%d+) (%d+)$')
  parts, at, size = tonumber(had), tonumber(when), tonumber(size)
  if size ~= token then parts = whole(parts, size) * token end
  at = math.min(at, now + token)
  parts = math.min(most, parts + math.max(now - at, 0) * gain)
  at = math.max(at, now)
end

local function wait(wanted)
  local lacking = wanted - parts
  if lacking <= 0 then return 0 end
  return at - now + whole(lacking + gain - 1, gain)
end

local count = 0
if what == 'take' then
  count = math.min(number, whole(parts, token))
  parts = parts - count * token
elseif what == 'give_back' then
  parts = math.min(most, parts + number * token)
else
  parts = 0
end

if count > 0 or what ~= 'take' then
  local lives = math.ceil(wait(most) / 1000) + 1000
  redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f', parts, at, token), 'PX', string.format('%.0f', lives))
end
return {count, parts, wait(token)}
"""


def arguments(what: str, number: int, limit: Limit, now: int | None = None) -> list[str | int]:
    """The script's arguments; without `now` the server's clock counts, as it always does outside tests.

    More than `LARGEST` tokens are no more than that: no bucket has them, and Lua could not count them.
    """
    number = min(number, LARGEST // limit.token)
    return [what, number, limit.token, limit.gain, limit.burst * limit.token, "" if now is None else now]
