from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.address import host_refusal, port_refusal, refusal


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
        "192.0.0.1",
        "198.18.0.1",
        "::1",
        "fe80::1",
        "fd00::1",
        "fec0::1",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b:1::808:808",
    ],
)
def test_private_addresses_are_called_only_when_allowed(address: str) -> None:
    assert "private" in (refusal(ip_address(address), allow_private=False) or "")
    assert refusal(ip_address(address), allow_private=True) is None


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "224.0.0.1", "ff02::1", "::ffff:0.0.0.0", "::7f00:1"])
def test_what_is_no_host_is_never_called(address: str) -> None:
    assert refusal(ip_address(address), allow_private=True)


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_itself(inside: IPv4Address) -> None:
    number = int(inside)
    wrapped = [(0xFFFF << 32) | number, (0x2002 << 112) | (number << 80), (0x64FF9B << 96) | number]

    assert {refusal(IPv6Address(one), allow_private=False) for one in wrapped} == {refusal(inside, allow_private=False)}


@given(st.ip_addresses(v=4), st.sampled_from(["{}", "0x{:x}", "0{:o}", "0X{:X}"]))
def test_no_spelling_of_an_address_that_the_system_reads_gets_through(address: IPv4Address, form: str) -> None:
    spelled = form.format(int(address))
    assert socket.inet_aton(spelled) == address.packed

    assert "unusual spelling" in (host_refusal(spelled, allow_private=True) or "")


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "127.0.0.1.", "0177.0.0.1", "127.0.0.01", "0", "a.0x7f"])
def test_an_address_must_be_spelled_plainly(host: str) -> None:
    assert host_refusal(host, allow_private=True) == f"{host} is an IP address in an unusual spelling"


@pytest.mark.parametrize("host", ["www.okmall.com", "localhost", "8.8.8.8", "1e100.net", "2606:4700:4700::1111"])
def test_names_and_public_addresses_may_be_asked(host: str) -> None:
    assert host_refusal(host, allow_private=False) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_private_hosts_are_refused_before_they_are_connected(host: str) -> None:
    assert "private" in (host_refusal(host, allow_private=False) or "")


def test_only_ports_of_the_web_are_called() -> None:
    ports = (0, 22, 25, 80, 443, 1023, 1024, 8080, 65535)

    assert [port for port in ports if port_refusal(port) is None] == [80, 443, 1024, 8080, 65535]
