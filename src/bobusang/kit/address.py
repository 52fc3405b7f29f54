"""Which addresses are called at all: the rule that keeps a crawler from being sent into our own network."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

NAT64 = IPv6Network("64:ff9b::/96")
# Private to a site, though the standard library calls them global: old site-local addresses and a site's own NAT64.
OF_A_SITE = (IPv6Network("fec0::/10"), IPv6Network("64:ff9b:1::/48"))
WEB_PORTS = frozenset({80, 443})
FIRST_FREE_PORT = 1024

# As browsers have it: a host whose last label is a number is an IPv4 address, however it is written (2130706433,
# 0x7f.1, 017700000001), and the system's resolver reads it so.
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?", re.IGNORECASE)


def refusal(address: Address, *, allow_private: bool) -> str | None:
    """Why this address is not called, or None."""
    inner = _inner(address)
    if inner is not None:
        return refusal(inner, allow_private=allow_private)
    private = not address.is_global or any(address in network for network in OF_A_SITE)
    if address.is_multicast or address.is_unspecified or (address.is_reserved and not private):
        return f"{address} is no host's address"
    if private and not allow_private:
        return f"{address} is a private, loopback or link-local address"
    return None


@lru_cache(1024)
def host_refusal(host: str, *, allow_private: bool) -> str | None:
    """Why this host of a web address is not called, or None; what a name stands for is checked when it is resolved."""
    if not _NUMERIC.fullmatch(host) and ":" not in host:
        return None
    try:
        return refusal(ip_address(host), allow_private=allow_private)
    except ValueError:
        return f"{host} is an IP address in an unusual spelling"


def port_refusal(port: int) -> str | None:
    """Why this port is not called, or None: below 1024 live mail, shells and directories, which speak no HTTP."""
    if port in WEB_PORTS or port >= FIRST_FREE_PORT:
        return None
    return f"port {port} is none of the web"


def _inner(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for (mapped, 6to4, NAT64)."""
    if not isinstance(address, IPv6Address):
        return None
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
