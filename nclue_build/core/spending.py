"""What a run may spend on a service, and what it has spent so far."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Amount:
    """What one call comes to.

    Args:
        tokens: In and out.
        cost: In the currency of the price; None where there is no price.
    """

    tokens: int
    cost: Decimal | None


@dataclass(slots=True)
class Spending:
    """Limits of one run over all its stages, and a count against them.

    A call is only begun where its worst case still fits. What it can take at most is reserved until it is there.

    Args:
        max_calls: Calls that may be begun; None: any number.
        max_tokens: Tokens, in and out; None: any number.
        max_cost: Money; None: any amount. Calls without a price are not counted against it.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: Decimal | None = None
    calls: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)

    def reserve(self, amount: Amount) -> str | None:
        """Take the worst case of a call into account, or say which limit it would break."""
        if self.max_calls is not None and self.calls >= self.max_calls:
            return f"--max-calls {self.max_calls}"
        if self.max_tokens is not None and self.tokens + amount.tokens > self.max_tokens:
            return f"--max-tokens {self.max_tokens}"
        cost = amount.cost or Decimal(0)
        if self.max_cost is not None and self.cost + cost > self.max_cost:
            return f"--max-cost {self.max_cost}"
        self.calls += 1
        self.tokens += amount.tokens
        self.cost += cost
        return None

    def settle(self, reserved: Amount, taken: Amount) -> None:
        """Count what a call took in place of what was reserved for it."""
        self.tokens += taken.tokens - reserved.tokens
        self.cost += (taken.cost or Decimal(0)) - (reserved.cost or Decimal(0))
