"""Removes passwords from addresses, so that they are never written, logged or shown.

Every text that may contain the address of a database passes through here: option files, messages,
logs, reports, tracebacks.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus

__all__ = ["has_secret", "redacted", "redacted_text"]

_HIDDEN = "***"
# `sslkey` and `passfile` name files; their content is not in the address.
_SECRET_NAME = re.compile(
    r"pass(?!file)|pwd|secret|token|credential|api_?key|access_?key", re.IGNORECASE
)
# Drivers accept a whole connection string as one parameter.
_SECRET_INSIDE = re.compile(r"(?:password|pwd)\s*=", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://[^\s'\"<>]+")


def has_secret(address: str) -> bool:
    """Whether an address contains a password or another secret."""
    return redacted(address) != address


def redacted(address: str) -> str:
    """Return an address without passwords.

    A text that is not an address is returned unchanged.
    """
    return _split(address)[0]


def redacted_text(text: str, *addresses: str) -> str:
    """Return a text without the passwords of the addresses in it.

    Args:
        text: A message or a log.
        addresses: Addresses whose passwords must not appear either, even in part: errors about
            malformed addresses quote parts of them.
    """
    for address in addresses:
        text = text.replace(address, redacted(address))
    text = _ADDRESS.sub(lambda found: redacted(found[0]), text)
    secrets = {part for one in addresses for secret in _split(one)[1] for part in _parts(secret)}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return text


def _parts(secret: str) -> set[str]:
    """The parts of a password that may be quoted: all of it, decoded, or up to a separator."""
    pieces = {one for one in re.split(r"[@/:?#&]", secret) if len(one) > 1}
    return {one for one in (secret, unquote(secret), unquote_plus(secret), *pieces) if one}


def _split(address: str) -> tuple[str, list[str]]:
    """An address without its secrets, and these."""
    scheme, mark, rest = address.partition("://")
    if not mark or not re.fullmatch(r"[A-Za-z][\w+.-]*", scheme):
        return address, []
    rest, secrets = _without_password(rest)
    place, mark_of_query, query = rest.partition("?")
    kept = []
    for parameter in query.split("&"):
        name, _, value = parameter.partition("=")
        if _SECRET_NAME.search(unquote(name)) or _SECRET_INSIDE.search(unquote_plus(value)):
            secrets.append(value)
        else:
            kept.append(parameter)
    if len(kept) < query.count("&") + 1:
        query = "&".join(kept)
        mark_of_query = "?" if query else ""
    return f"{scheme}://{place}{mark_of_query}{query}", secrets


def _without_password(rest: str) -> tuple[str, list[str]]:
    """What follows the scheme without `:PASSWORD`, which may hold any sign, unquoted `@` too."""
    found = re.match(r"([^:/?@]*):(?=[^@]*@)", rest)
    if found is None:
        return rest, []
    first = rest.index("@", found.end())
    query = rest.find("?", first)
    last = rest.rindex("@", found.end(), query if query >= 0 else len(rest))
    user = found[1]
    return f"{user}@{rest[last + 1 :]}" if user else rest[last + 1 :], [rest[found.end() : last]]
