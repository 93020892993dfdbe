"""Ids that stand for a document: what a ``pdf_url`` such as ``pmc:PMC1234567`` means.

A resolver is a class with a constructor that takes the ``[fetch]`` table and one method, :meth:`Resolver.addresses`;
:data:`RESOLVERS` names it by the prefix of its ids. Adding one is adding it there.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit, urlunsplit
from xml.etree import ElementTree as ET

from nclue_build.core.printable import without_controls
from nclue_build.fetch.outcome import PlaceError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from nclue_build.records.config import FetchSection

_PMC_ID: Final = re.compile(r"(?:PMC)?(\d{1,12})(?:\.(\d{1,4}))?", re.IGNORECASE)


class Resolver(Protocol):
    """Says which web addresses an id stands for."""

    def __init__(self, settings: FetchSection) -> None: ...

    def addresses(self, identifier: str, read: Callable[[str], Awaitable[bytes]]) -> AsyncIterator[str]:
        """Yield the web addresses of a document's PDF, the best first.

        Args:
            identifier: What stands behind the prefix.
            read: Gets the content of a web address that tells of the document; only called when it is needed.

        Raises:
            PlaceError: the id is none, or the service does not have its PDF.
        """


class PmcResolver:
    """Open-access articles of PubMed Central: ``pmc:PMC1234567``, or ``pmc:PMC1234567.2`` for a version.

    First the address in PMC's open data on AWS, a folder per article and version; where that fails, what the OA web
    service names (``ftp`` addresses are had from the same host by ``https``).
    """

    def __init__(self, settings: FetchSection) -> None:
        self._pdf_url = settings.pmc_pdf_url
        self._service_url = settings.pmc_service_url

    async def addresses(self, identifier: str, read: Callable[[str], Awaitable[bytes]]) -> AsyncIterator[str]:
        """Yield the address in the open data, then the one that the service gives.

        Raises:
            PlaceError: no PMC id, or the service has no PDF of it.
        """
        match = _PMC_ID.fullmatch(identifier.strip())
        if match is None:
            raise PlaceError("failed", "no PMC id: expected pmc:PMC and digits")
        names = {"{id}": f"PMC{match[1]}", "{version}": match[2] or "1"}
        yield _replaced(self._pdf_url, names)
        yield _pdf_link(await read(_replaced(self._service_url, names)))


def _replaced(template: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        template = template.replace(name, value)
    return template


def _pdf_link(reply: bytes) -> str:
    """The address of the PDF in a reply of the OA web service.

    Raises:
        PlaceError: it is no such reply, or names no PDF.
    """
    if b"<!DOCTYPE" in reply or b"<!ENTITY" in reply:  # a web page, or something that explodes when it is parsed
        raise PlaceError("failed", "the PMC service did not answer with XML")
    try:
        root = ET.fromstring(reply)  # noqa: S314 - without declarations there is nothing that could explode
    except ET.ParseError:
        raise PlaceError("failed", "the PMC service did not answer with XML") from None
    if (error := root.find(".//error")) is not None:
        code = without_controls(f"{error.get('code') or ''} {error.text or ''}")[:100].strip()
        raise PlaceError("gone", f"the PMC service says: {code}")
    for link in root.iter("link"):
        if link.get("format") == "pdf" and (address := link.get("href")):
            parts = urlsplit(address)
            return urlunsplit(parts._replace(scheme="https")) if parts.scheme == "ftp" else address
    raise PlaceError("gone", "the PMC service has no PDF of it")


RESOLVERS: Final[Mapping[str, type[Resolver]]] = MappingProxyType({"pmc": PmcResolver})
"""Resolvers by the prefix of the ids they know."""
