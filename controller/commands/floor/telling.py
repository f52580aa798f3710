"""The floor in words: those that the terminal and the page share, and the lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from controller.floor.floor_view import Floor, Matter
from controller.floor.page_stream import matter_in
from controller.journal.codec import Clock
from controller.language import Speaker
from controller.language.catalogue import texts
from firmware_bridge.messages import AnyText

MINUTE: Final = 60_000  # ms
HOUR: Final = 60 * MINUTE


class FloorWords:
    """The words in one language.

    >>> FloorWords("en")("top.tables", n=1), FloorWords("zh-Hans")("top.tables", n=1), FloorWords("en").span(150_000)
    ('1 table', '1张牌桌', '2 min')
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, **given: str | int) -> str:
        return Speaker(self.language).keyed(key, **given)

    def phase(self, phase: str) -> str:
        return self(f"phase.{phase}")

    def device(self, kind: str) -> str:
        key = f"device.{kind}"
        return self(key if key in texts(self.language).keyed else "device.device")

    def span(self, ms: int) -> str:
        """Return a duration in seconds below a minute, then in minutes, then in hours."""
        if ms < MINUTE:
            return self("age.s", n=ms // 1000)
        return self("age.min", n=ms // MINUTE) if ms < HOUR else self("age.h", n=ms // HOUR)

    def age(self, now: int, since: int, least: int = 0) -> str:
        """Return how long ago that is, or "" if unknown or less than `least`."""
        return self.span(max(0, now - since)) if since and now - since >= least else ""


NS_A_SECOND: Final = 10**9
JOINT: Final = " · "


class Telling:
    """The words in one language. `clock` gives the time of day."""

    def __init__(self, language: str, clock: Clock) -> None:
        self.say = FloorWords(language)
        self.speaker = Speaker(language)
        self._clock = clock

    def about(self, found: Matter) -> str:
        """Return a matter in words: what and where it is, under which clause, and who is awaited."""
        matter = matter_in(found, self.speaker)
        what, more = str(matter.what), str(matter.where)
        if matter.trouble:
            what, more = self.say(f"trouble.{matter.trouble}"), str(matter.what)
        if more:
            what = self.say("matter.what", what=what, more=more)
        clauses = self.say("join.comma").join(one or self.say("matter.no_clause") for one in matter.clauses)
        who = self.say("matter.who", who=str(matter.who)) if matter.who else ""
        return JOINT.join(filter(None, (f"{what[:1].upper()}{what[1:]}", clauses, who)))

    def act(self, found: Matter) -> str:
        return str(matter_in(found, self.speaker).act)

    def sentence(self, text: AnyText) -> str:
        """Translate a sentence of a table."""
        return self.speaker(text)

    def headline(self, floor: Floor) -> tuple[str, str]:
        """Return the headline and its tone."""
        say, tones = self.say, [row.tone for row in floor.rows]
        if floor.away and not floor.why:
            return say("headline.waiting"), "amber"
        if floor.away:
            since = self.time(self._clock.now().utc_ns - (self._clock.now().boottime_ns - floor.away_since_ns))
            old = say("headline.old", time=since) if tones else ""
            return " ".join(filter(None, (say(f"broker.{floor.why}"), old))), "red"
        if stands := tones.count("red"):
            return say("headline.stands", n=stands), "red"
        if acts := tones.count("amber"):
            return say("headline.acts", n=acts), "amber"
        return say("headline.calm" if tones else "headline.none"), "plain"

    def notes(self, floor: Floor) -> Iterable[str]:
        """Yield notes about this program itself."""
        if floor.left_out:
            yield self.say("open.left_out")
        if floor.unread:
            yield f"{self.say('open.unread', n=floor.unread)} {floor.unread_first}"

    def time(self, utc_ns: int, *, seconds: bool = False) -> str:
        """Return the local time of day."""
        moment = datetime.fromtimestamp(min(utc_ns, 2**62) // NS_A_SECOND).astimezone()
        return f"{moment:%H:%M:%S}" if seconds else f"{moment:%H:%M}"
