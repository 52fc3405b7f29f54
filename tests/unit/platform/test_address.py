from __future__ import annotations

from ipaddress import ip_address

import pytest

from bobusang.platform.buses.address import refusal


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_public_addresses_are_called(address: str) -> None:
    assert refusal(ip_address(address), allow_private=False) is None


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "::1",
        "fe80::1",
        "fd00::1",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
    ],
)
def test_private_addresses_are_called_only_when_allowed(address: str) -> None:
    assert "private" in (refusal(ip_address(address), allow_private=False) or "")
    assert refusal(ip_address(address), allow_private=True) is None


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "::ffff:0.0.0.0"])
def test_what_is_no_host_is_never_called(address: str) -> None:
    assert refusal(ip_address(address), allow_private=True)
