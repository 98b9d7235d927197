"""The page of all words that a vocabulary knows, in Markdown."""

from ttikit.data.vocabulary import CUT, WHOLE, Vocabulary, form_of, words_of

_HEAD = f"""# The words that the model knows

A prompt is read word by word; of each word the first {CUT} letters count, so that case, number and
gender don't matter. Words in one row mean the same to the model. Every other word is named and
ignored. The order of the rows is that of the token ids, and it is frozen: new meanings go to the
end. Of words in *italics* all letters count. `ttikit data vocabulary` writes this page.

| id | meaning | words |
|---|---|---|
"""
_PHRASES = """
## Words that stand for others
Two words together are looked up before each of them, so that a word may mean something else
before another one than alone.

| words | stand for |
|---|---|
"""
_NOTHING = "\nWithout a meaning of their own, and skipped: "


def page(vocabulary: Vocabulary) -> str:
    """The page as text; `ttikit data vocabulary` prints it."""
    rows = [
        f"| {number} | {name} | {', '.join(_shown(entry))} |\n"
        for number, (name, entry) in enumerate(vocabulary.entries.items(), start=1)
    ]
    text = _HEAD + "".join(rows)
    told = [(words, names) for words, names in vocabulary.phrases.items() if names]
    if told:
        lines = [f"| {_marked(words)} | {' + '.join(names)} |\n" for words, names in told]
        text += _PHRASES + "".join(lines)
    skipped = [words for words, names in vocabulary.phrases.items() if not names]
    if skipped:
        text += _NOTHING + ", ".join(skipped) + ".\n"
    return text


def _shown(entry: str) -> list[str]:
    """One word of each item that adds a form; of a declension the first."""
    forms: dict[str, str] = {}
    for item in entry.split():
        word = next(words_of(item))
        forms.setdefault(form_of(word), _marked(word))
    return list(forms.values())


def _marked(word: str) -> str:
    return f"*{word.removeprefix(WHOLE)}*" if word.startswith(WHOLE) else word
