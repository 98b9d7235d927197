"""The judge's figures as a table on the terminal or as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ttikit.evaluate.classifier import JUDGE, Judge, load_judge
from ttikit.evaluate.classifier_training import RESULT


def print_figures(out: Path | None, as_json: bool) -> None:
    """Print the figures of the run in ``out``, or of the shipped classifier without one."""
    path = JUDGE if out is None else out / RESULT
    judge = load_judge(path)
    if as_json:
        keys = ("samples", "held_out", "rule", "clear", "accuracy", "accuracy_passed")
        print(json.dumps({"path": str(path), **{key: judge.metadata[key] for key in keys}}))
        return
    console = Console(width=None if Console().is_terminal else 100)
    console.print(table(judge))
    console.print(f"{path}: {judge.samples:,} samples, {judge.metadata['held_out']:,} held out")
    console.print(f"{len(judge.clear)} clear attributes; {judge.metadata['rule']}")


def table(judge: Judge) -> Table:
    """One row per attribute, the soundest first: renders, then after the autoencoder."""
    out = Table("attribute", "clear")
    for heading in ("share", "accuracy", "balanced", "AUC", "decoded", "balanced", "AUC"):
        out.add_column(heading, justify="right")
    order = sorted(judge.attributes, key=lambda name: -judge.accuracy[name]["balanced"])
    for name in order:
        plain, passed = judge.accuracy[name], judge.accuracy_passed[name]
        shares = [f"{plain['share']:.1%}"]
        for found in (plain, passed):
            shares += [f"{found['accuracy']:.1%}", f"{found['balanced']:.1%}"]
            shares.append(f"{found['auc']:.4f}")
        out.add_row(name, "yes" if name in judge.clear else "", *shares)
    return out
