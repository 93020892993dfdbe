"""What calls come to: tokens and money, before and after."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from nclue_build.core.spending import Amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nclue_build.records.calls import CallRequest
    from nclue_build.records.config import CallsSection, PriceRow

_CHARACTERS_PER_TOKEN: Final = 4
"""A rule of thumb for English; what a service counts, its own tokenizer decides."""
_MILLION: Final = Decimal(1_000_000)
_INPUT: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def input_tokens(request: CallRequest) -> int:
    """About so many tokens a request has."""
    size = len(request.system) + sum(len(message.content) for message in request.messages)
    return -(-size // _CHARACTERS_PER_TOKEN)


def price_of(config: CallsSection, day: str) -> PriceRow | None:
    """What the model costs on a day (``YYYY-MM-DD``): the latest row that has begun; None where there is none."""
    rows = [row for row in config.prices if row.model == config.model and row.since <= day]
    return max(rows, key=lambda row: row.since, default=None)


def amount(n_input: int, n_output: int, price: PriceRow | None) -> Amount:
    """Tokens and their cost."""
    if price is None:
        return Amount(n_input + n_output, None)
    cost = (n_input * Decimal(price.input) + n_output * Decimal(price.output)) / _MILLION
    return Amount(n_input + n_output, cost)


def most(requests: Iterable[CallRequest], price: PriceRow | None) -> Amount:
    """What requests come to at most, as far as their input can be estimated."""
    rows = list(requests)
    return amount(sum(map(input_tokens, rows)), sum(row.max_tokens for row in rows), price)


def taken(request: CallRequest, usage: Mapping[str, int], price: PriceRow | None) -> Amount:
    """What an answer came to by its usage; by the worst case where that says nothing. Cached input counts in full."""
    n_input = sum(usage.get(name, 0) for name in _INPUT) or input_tokens(request)
    return amount(n_input, usage.get("output_tokens", 0) or request.max_tokens, price)
