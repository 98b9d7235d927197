# Words to token ids.
#
# A prompt is lower-cased, cut into words, and each word is looked up by its first five letters,
# which in Russian drops most endings: «пожилой», «пожилая» and «пожилому» are one token. The table
# comes from the model file. It may also hold whole words ("grandma"), found before first letters,
# and two words together ("brown eyes"), found before single ones; a form may stand for several
# tokens ("sunglasses") or none ("a").

PREFIX = 5  # letters of a word that count
MAX_TOKENS = 32  # rows of the text encoder

_LATIN = "aceopxykmtbhi"  # letters that look like Cyrillic ones, small or capital
_CYRILLIC = "асеорхукмтвні"
_SHOWN = 8  # words named in a note


def _lower(code):
    # MicroPython's str.lower() knows ASCII only.
    if 0x41 <= code <= 0x5A or 0x410 <= code <= 0x42F:
        return code + 0x20
    if 0x400 <= code <= 0x40F:
        return code + 0x50
    return code


def _is_letter(code):
    if 0x2000 <= code <= 0x206F:  # typographic dashes, quotes and apostrophes
        return False
    return 0x61 <= code <= 0x7A or 0x430 <= code <= 0x45F or 0x30 <= code <= 0x39 or code > 0x52F


def _is_mark(code):
    # stress marks, soft hyphen, zero-width characters: part of a word, without meaning
    return 0x300 <= code <= 0x36F or code == 0xAD or 0x200B <= code <= 0x200D or code == 0xFEFF


def words(text):
    """Yield the words of `text` (str) in lower case, «й» composed, «ё» as «е»; at most 40 letters
    of each."""
    word = []
    for ch in text:
        code = _lower(ord(ch))
        if code == 0x306 and word and word[-1] == "и":
            word[-1] = "й"
        elif code == 0x451:
            word.append("е")
        elif _is_mark(code):
            pass
        elif _is_letter(code):
            if len(word) < 40:
                word.append(chr(code))
        elif word:
            yield "".join(word)
            word = []
    if word:
        yield "".join(word)


def _as_cyrillic(word):
    """Return `word` with its look-alike Latin letters replaced, or None if it has none or other
    Latin letters."""
    out = ""
    changed = False
    for ch in word:
        if "a" <= ch <= "z":
            at = _LATIN.find(ch)
            if at < 0:
                return None
            ch = _CYRILLIC[at]
            changed = True
        out += ch
    return out if changed else None


def decode(text):
    """Return `text` (str or UTF-8 bytes) as a valid str; raises ValueError in one sentence."""
    try:
        # A str is checked too: MicroPython takes command-line arguments as they are.
        return str(text.encode() if isinstance(text, str) else bytes(text), "utf-8")
    except UnicodeError:
        raise ValueError(
            "the prompt is not valid UTF-8; set the terminal to UTF-8 and type it again"
        )


def as_text(prompt):
    """Return `prompt` (str or UTF-8 bytes) as a checked str; raise TypeError or ValueError in one
    sentence."""
    if not isinstance(prompt, (str, bytes, bytearray)):
        raise TypeError("the prompt must be text, such as tti.generate('пожилой мужчина')")
    text = decode(prompt)
    if not any(_is_letter(_lower(ord(ch))) for ch in text):
        raise ValueError(
            "the prompt has no letters; say whom to draw, for instance 'улыбающаяся девушка'"
            + _advice()
        )
    return text


def _advice():
    from .line import advice  # which needs this module

    return advice()


class _Names:
    """The first few different words of a kind, and how many more there were."""

    def __init__(self):
        self.words = []
        self.more = 0

    def add(self, word):
        if word not in self.words:
            if len(self.words) < _SHOWN:
                self.words.append(word)
            else:
                self.more += 1

    def __str__(self):
        shown = ", ".join("«" + word + "»" for word in self.words)
        return shown + (" and %d more" % self.more if self.more else "")


def check_forms(forms, rows):
    """Raise ValueError unless `forms` is a vocabulary for an embedding of `rows` tokens."""
    if not isinstance(forms, dict) or not forms:
        raise ValueError("the model file has no vocabulary")
    for form in forms:
        tokens = forms[form]
        for token in tokens if isinstance(tokens, list) else (tokens,):
            if not isinstance(token, int) or isinstance(token, bool) or not 0 < token < rows:
                raise ValueError("the vocabulary of the model file has no token for «%s»" % form)


class Tokenizer:
    """Turns prompts into token ids by the model's table of word forms.

    forms: dict of lower-case first letters (at most 5), whole words, or first letters of two words
    with a space between -> id in 1..255 or list of ids; 0 is padding."""

    def __init__(self, forms):
        self.forms = forms

    def encode(self, prompt, ids):
        """Write the token ids of `prompt` into `ids` (bytearray(32), zero-padded).

        Returns (number of tokens, notes): each note is a sentence about something in the prompt
        that was ignored or read differently. Raises TypeError or ValueError for a prompt that
        can't be read."""
        n = 0
        unknown = _Names()
        latin = _Names()
        dropped = 0
        for i in range(len(ids)):
            ids[i] = 0
        for word, tokens, alike in self._read(as_text(prompt)):
            if tokens is None:
                unknown.add(word)
                continue
            if alike:
                latin.add(word)
            for token in (tokens,) if isinstance(tokens, int) else tokens:
                if n < len(ids):
                    ids[n] = token
                    n += 1
                else:
                    dropped += 1
        return n, _notes(n, unknown, latin, dropped)

    def _read(self, text):
        """Yield (word, tokens or None, whether its letters were taken for Cyrillic ones)."""
        held = None  # a word that the next one may make a pair with
        for word in words(text):
            if held:
                pair = self.forms.get(held[:PREFIX] + " " + word[:PREFIX])
                if pair is not None:
                    yield held, pair, False
                    held = None
                    continue
                yield self._find(held)
            held = word
        if held:
            yield self._find(held)

    def _find(self, word):
        tokens = self._form(word)
        cyrillic = _as_cyrillic(word) if tokens is None else None
        if cyrillic:
            tokens = self._form(cyrillic)
        return word, tokens, cyrillic is not None

    def _form(self, word):
        tokens = self.forms.get(word)
        return self.forms.get(word[:PREFIX]) if tokens is None else tokens


def _notes(n, unknown, latin, dropped):
    notes = []
    if unknown.words:
        notes.append("ignored, not in the vocabulary: %s" % unknown)
    if latin.words:
        notes.append("Latin letters read as Cyrillic in %s" % latin)
    if dropped:
        notes.append("only the first %d known words are used, %d more were ignored" % (n, dropped))
    if not n:
        notes.append("no word of the prompt is known, so the face is a random one")
        if "".join(unknown.words).isdigit():  # the letters between the numbers may have got lost
            notes[-1] += _advice()
    return notes
