"""The free nodes of a machine, as sorted disjoint intervals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from hpcsim.errors import InvariantViolation
from hpcsim.node_ids import Interval, format_intervals


class FreeNodes:
    """Node ids that nobody holds; handing out and taking back cost O(intervals)."""

    __slots__ = ("_highs", "_lows", "count")

    def __init__(self, nodes: int) -> None:
        self._lows = [0]
        self._highs = [nodes - 1]
        self.count = nodes

    def intervals(self) -> list[Interval]:
        """Return the free ids."""
        return list(zip(self._lows, self._highs, strict=True))

    def within(self, first: int, last: int) -> list[Interval]:
        """Return the free ids from *first* to *last*."""
        lows, highs = self._lows, self._highs
        found = []
        for at in range(bisect_left(highs, first), len(lows)):
            if lows[at] > last:
                break
            found.append((max(lows[at], first), min(highs[at], last)))
        return found

    def lowest(self, nodes: int, first: int, last: int) -> list[Interval]:
        """Return the *nodes* lowest free ids from *first* to *last*, without handing them out."""
        lows, highs = self._lows, self._highs
        found = []
        for at in range(bisect_left(highs, first), len(lows)):
            low = max(lows[at], first)
            high = min(highs[at], last, low + nodes - 1)
            found.append((low, high))
            nodes -= high - low + 1
            if not nodes:
                break
        return found

    def take_lowest(self, nodes: int) -> Sequence[Interval]:
        """Hand out the *nodes* lowest free ids; there must be so many."""
        lows, highs = self._lows, self._highs
        low, high = lows[0], highs[0]
        self.count -= nodes
        if high - low >= nodes:
            lows[0] = low + nodes
            return ((low, low + nodes - 1),)
        taken = []
        used = 0
        while nodes:
            low, high = lows[used], highs[used]
            size = high - low + 1
            if size > nodes:
                taken.append((low, low + nodes - 1))
                lows[used] = low + nodes
                break
            taken.append((low, high))
            nodes -= size
            used += 1
        del lows[:used]
        del highs[:used]
        return taken

    def has(self, intervals: Iterable[Interval]) -> bool:
        """Tell whether all these ids are free."""
        for low, high in intervals:
            at = bisect_right(self._lows, low) - 1
            if at < 0 or self._highs[at] < high:
                return False
        return True

    def take(self, intervals: Iterable[Interval]) -> None:
        """Hand out exactly these ids, which must be free."""
        lows, highs = self._lows, self._highs
        for low, high in intervals:
            at = bisect_right(lows, low) - 1
            last = highs[at]
            if lows[at] < low:
                highs[at] = low - 1
                if high < last:
                    lows.insert(at + 1, high + 1)
                    highs.insert(at + 1, last)
            elif high < last:
                lows[at] = high + 1
            else:
                del lows[at], highs[at]
            self.count -= high - low + 1

    def give_back(self, intervals: Iterable[Interval]) -> None:
        """Take ids back; a free one among them is an `InvariantViolation`."""
        lows, highs = self._lows, self._highs
        for low, high in intervals:
            at = bisect_left(lows, low)
            if (at and highs[at - 1] >= low) or (at < len(lows) and lows[at] <= high):
                raise InvariantViolation(f"Nodes {format_intervals([(low, high)])} were given back while free.")
            self.count += high - low + 1
            joins_left = at > 0 and highs[at - 1] + 1 == low
            if at < len(lows) and lows[at] == high + 1:
                if joins_left:
                    highs[at - 1] = highs[at]
                    del lows[at], highs[at]
                else:
                    lows[at] = low
            elif joins_left:
                highs[at - 1] = high
            else:
                lows.insert(at, low)
                highs.insert(at, high)
