"""Whom a client trusts to show a certificate, as retape is told.

Only what nobody else would know is told: that the client takes any certificate, or certificates of its own.
"""

from __future__ import annotations

import base64
import re
import ssl
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any, FrozenSet, Iterable, Optional
from weakref import WeakKeyDictionary

#: The field that says so.
FIELD = "retape-trust"
ANYONE = "anyone"

#: Who trusts more than so many by itself brings a bundle of the known authorities.
_FEW = 32

_PEM = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)

_contexts: "WeakKeyDictionary[ssl.SSLContext, tuple[Any, Optional[str]]]" = WeakKeyDictionary()


def of_context(context: Any) -> Optional[str]:
    """What to tell of a context; ``None`` if that is nothing. ``False`` is one that takes any certificate."""
    if not isinstance(context, ssl.SSLContext):
        return ANYONE if context is False else None
    if context.verify_mode == ssl.CERT_NONE:
        return ANYONE
    # One that is loaded with more is another one.
    stats = context.cert_store_stats()
    before = _contexts.get(context)
    if before is None or before[0] != stats:
        # Python lists no certificate that may not sign others. Bundles have none.
        is_unlisted = stats["x509"] > stats["x509_ca"]
        told = ANYONE if is_unlisted else _told(context.get_ca_certs(binary_form=True))
        before = _contexts[context] = stats, told
    return before[1]


def of_connection(connection: Any) -> Optional[str]:
    """What to tell of a connection of ``http.client`` or urllib3."""
    if getattr(connection, "cert_reqs", None) in (ssl.CERT_NONE, "CERT_NONE", "NONE"):
        return ANYONE
    context = getattr(connection, "ssl_context", None) or getattr(connection, "_context", None)
    file, data = getattr(connection, "ca_certs", None), getattr(connection, "ca_cert_data", None)
    if not file and not data:
        return of_context(context)
    own = set(_of_file(file)) if file else set()
    if data:
        own.update([data] if isinstance(data, bytes) else _of_pem(data))
    return _told(own)


def _told(certificates: Iterable[bytes]) -> Optional[str]:
    own = sorted(set(certificates) - _known())
    return ",".join(base64.b64encode(one).decode() for one in own) if 0 < len(own) <= _FEW else None


@lru_cache(maxsize=None)
def _known() -> FrozenSet[bytes]:
    """The authorities that this machine and certifi know."""
    context = ssl.create_default_context()
    certifi = sys.modules.get("certifi")
    if certifi is not None:
        # A client may ask for it in an event loop, where some forbid to open a file.
        with suppress(OSError):
            context.load_verify_locations(certifi.where())
    return frozenset(context.get_ca_certs(binary_form=True))


def _of_file(path: str) -> Iterable[bytes]:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return _of_pem(file.read())
    except OSError:
        return ()


def _of_pem(text: str) -> Iterable[bytes]:
    return [ssl.PEM_cert_to_DER_cert(block) for block in _PEM.findall(text)]
