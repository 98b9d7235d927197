"""The TOML file of a domain, read and checked (docs/own-domain.md)."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ttikit.data.domain import (
    FACE_DOMAIN,
    MAX_SAYING,
    MAX_TOKENS,
    PLACES,
    Domain,
    OwnDomain,
    Saying,
)
from ttikit.data.shards import RENDER
from ttikit.data.vocabulary import Vocabulary
from ttikit.errors import TtiError


def domain_of(data: Mapping[str, str]) -> Domain:
    """The domain of a data set, cache or trained file, by what it keeps under `data`."""
    text = data.get("domain", "")
    return parse_domain(text, "the domain that was trained") if text else FACE_DOMAIN


def origin_of(data: Mapping[str, str]) -> dict[str, str]:
    """Source and domain of the pictures, by what is kept under `data`; renders do not say it in
    older files."""
    return {"pictures": data.get("source", RENDER), "domain": data.get("domain", "")}


def check_licence(path: Path, learned: Mapping[str, str], data: Mapping[str, str]) -> None:
    """Raise TtiError if what `path` learned, from pictures of `learned`, must not be used with
    those of `data`: what comes of it would lose its licence. Renders are free, all others not."""
    source, other = origin_of(learned)["pictures"], origin_of(data)["pictures"]
    if source == RENDER or licence_of(learned) == licence_of(data):
        return
    if source != other:
        raise TtiError(f"{path} learned from pictures of {source}, and these are of {other}")
    raise TtiError(
        f"{path} learned from pictures under the licence «{licence_of(learned)}», and these are "
        f"under «{licence_of(data)}»"
    )


def licence_of(data: Mapping[str, str]) -> str:
    """Return under what terms a model may be used that learned from the data set `data`."""
    source = origin_of(data)["pictures"]
    if source == RENDER:
        return "MIT; trained on our own renders of CC0 heads"
    if source == "celeba":
        return "non-commercial research only; trained on CelebA"
    return domain_of(data).licence or "not stated; see the pictures it was trained on"


def read_domain(path: Path | None) -> Domain:
    """The domain of a TOML file, or faces; TtiError if the file is missing or makes no sense."""
    if path is None:
        return FACE_DOMAIN
    try:
        return parse_domain(path.read_text("utf-8-sig"), str(path))
    except OSError as error:
        raise TtiError(f"{path} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise TtiError(f"{path} is not UTF-8: save it as UTF-8") from None


def parse_domain(text: str, origin: str) -> Domain:
    """The domain of the text of a TOML file; TtiError begins with `origin`."""
    try:
        return _Reader(tomllib.loads(text)).domain(text)
    except (tomllib.TOMLDecodeError, TtiError) as error:
        raise TtiError(f"{origin}: {error}") from None


_KINDS: dict[type, str] = {str: "text in quotes", list: "a list", dict: "a table"}


class _Reader:
    """Checks a parsed file piece by piece; what it takes out and what is left over."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table

    def domain(self, text: str) -> OwnDomain:
        meanings = {
            name: self._text(words, f"meanings.{name}")
            for name, words in self._take("meanings", dict).items()
        }
        phrases = {
            name: self._texts(names, f"phrases.{name}", least=0)
            for name, names in self._take("phrases", dict, {}).items()
        }
        if not 1 <= len(meanings) <= 254:
            raise TtiError(f"[meanings] needs 1 to 254 entries, not {len(meanings)}")
        self.vocabulary = Vocabulary(meanings, phrases)
        self.attributes = self._attributes()
        conjunction = self._take("and", str, "")
        domain = OwnDomain(
            text=text,
            name=self._take("name", str),
            attributes=self.attributes,
            vocabulary=self.vocabulary,
            prompts=self._spoken(self._take("prompts", list), "prompts", MAX_TOKENS),
            licence=self._take("licence", str, ""),
            noun=self._spoken(self._take("noun", list), "noun"),
            conjunction=self._spoken([conjunction], "and")[0] if conjunction else "",
            sayings=tuple(self._saying(entry) for entry in self._take("say", list)),
        )
        if self.table:
            raise TtiError(f"{next(iter(self.table))!r} is no entry that a domain has")
        return domain

    def _take(self, name: str, kind: type, default: Any = None) -> Any:
        value = self.table.pop(name, default)
        if value is None:
            raise TtiError(f"{name!r} is missing")
        if not isinstance(value, kind):
            raise TtiError(f"{name!r} must be {_KINDS[kind]}")
        return value

    def _text(self, value: Any, name: str) -> str:
        if not isinstance(value, str) or not value.strip():
            raise TtiError(f"{name!r} must be text in quotes")
        return value

    def _texts(self, value: Any, name: str, least: int = 1) -> tuple[str, ...]:
        if not isinstance(value, list) or len(value) < least:
            raise TtiError(f"{name!r} must be a list of texts")
        return tuple(self._text(entry, name) for entry in value)

    def _spoken(self, value: Any, name: str, most: int = MAX_SAYING) -> tuple[str, ...]:
        """Texts that the vocabulary knows wholly."""
        texts = self._texts(value, name)
        for text in texts:
            ids, unknown = self.vocabulary.tokenize(text)
            if unknown:
                raise TtiError(f"{name!r} says {text!r}, but no meaning has the word {unknown[0]}")
            if not 1 <= len(ids) <= most:
                raise TtiError(f"{name!r}: {text!r} must be 1 to {most} known words")
        return texts

    def _attributes(self) -> tuple[str, ...]:
        names = self._texts(self._take("attributes", list), "attributes")
        for name in names:
            if not name.replace("_", "a").isalnum() or name == "file":
                raise TtiError(f"the attribute {name!r} must be letters, digits and _, not file")
            if names.count(name) > 1:
                raise TtiError(f"the attribute {name!r} is named twice")
        return names

    def _saying(self, entry: Any) -> Saying:
        if not isinstance(entry, dict):
            raise TtiError("'say' must be written as [[say]] tables")
        inner = _Reader(dict(entry))
        when = inner.table.pop("when", None)
        place = inner._take("as", str)
        often = inner.table.pop("often", 0.7)
        topic = inner._take("topic", str, "")
        words = self._spoken(inner._take("words", list), "words")
        if inner.table:
            raise TtiError(f"{next(iter(inner.table))!r} is no entry of a [[say]] table")
        if place not in PLACES:
            raise TtiError(f"'as' must be one of {', '.join(PLACES)}, not {place!r}")
        if not isinstance(often, int | float) or not 0 <= often <= 1:
            raise TtiError(f"'often' must be a number from 0 to 1, not {often!r}")
        names = self._texts([when] if isinstance(when, str) else when, "when")
        return Saying(tuple(map(self._condition, names)), place, words, float(often), topic)

    def _condition(self, text: str) -> tuple[int, int]:
        name = text.removeprefix("!")
        if name not in self.attributes:
            raise TtiError(f"'when' names {name!r}, which is not among the attributes")
        return self.attributes.index(name), int(not text.startswith("!"))
