"""The training loop that both networks share: budget, rate, checkpoints, log, progress line."""

from __future__ import annotations

import ctypes
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor, nn

from ttikit.errors import TtiError
from ttikit.training.checkpoint import load_checkpoint, save_checkpoint
from ttikit.training.journal import Journal
from ttikit.training.optim import Average, Schedule
from ttikit.training.world import ALONE, World, gradients, is_one_of_many, own_device

ECHO = 3.0  # seconds within which a signal under torchrun arrives once more from torchrun itself
Loss = Callable[["Counters"], dict[str, Tensor]]
Check = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Budget:
    """How long a run is as a whole, over all its resumptions: minutes or samples.

    ``finish_minutes`` ends the run that many minutes after now, the rate falling to zero.
    """

    minutes: float | None = None
    samples: int | None = None
    finish_minutes: float | None = None

    def __post_init__(self) -> None:
        if (self.minutes is None) == (self.samples is None):
            raise TtiError("give either --minutes or --samples")
        for value in (self.minutes, self.samples, self.finish_minutes):
            if value is not None and not value > 0:
                raise TtiError("--minutes, --samples and --finish-minutes must be above 0")


@dataclass
class Counters:
    """What a checkpoint knows besides tensors. All random numbers derive from (seed, step)."""

    seed: int = 0
    step: int = 0
    samples: int = 0
    seconds: float = 0.0
    progress: float = 0.0
    finish_from: float | None = None  # seconds at which a finish began
    finish_for: float = 0.0  # seconds that it lasts
    sources: dict[str, Any] = field(default_factory=dict)  # what the run was made from
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """Everything about a run but the network."""

    out: Path
    batch: int
    budget: Budget
    seed: int = 0
    save_seconds: float = 60.0
    log_seconds: float = 10.0
    clip: float = 1.0  # limit of the gradient's norm
    world: World = ALONE  # all processes of the run; ``batch`` is that of all of them together
    look_every: int | None = None  # steps between looks at the numbers; by default 50 on a GPU


class Trainer:
    """Runs steps until the budget is used up or a signal asks for a stop; resumes by itself.

    ``loss`` computes a dictionary of scalars for the counters of one step; "loss" is minimised.
    A group of an optimiser may have a "share": its part of the scheduled rate.
    ``check`` measures something on held-out data for the log whenever a checkpoint is written.
    """

    def __init__(
        self,
        model: nn.Module,
        optimisers: Sequence[torch.optim.Optimizer],
        schedule: Schedule,
        loss: Loss,
        settings: Settings,
        average: Average | None = None,
        check: Check | None = None,
    ) -> None:
        self.check = check
        self.model, self.optimisers, self.average = model, list(optimisers), average
        self.schedule, self.loss, self.settings = schedule, loss, settings
        self.counters = Counters(seed=settings.seed)
        self.world = settings.world
        self.world.check(settings.batch)
        self.journal = Journal(settings.out, self.world.leads)
        on_gpu = any(parameter.is_cuda for parameter in model.parameters())
        self._look_every = settings.look_every or (50 if on_gpu else 1)
        self._stop = False
        self._stopped_at = 0.0

    def resume(self, sources: Mapping[str, Any], other: str) -> bool:
        """Continue from the newest sound checkpoint, if there is one.

        Raises `TtiError` if that run had another seed or other ``sources``; ``other`` says then
        what it was, as in "trained on pairs of another teacher".
        """
        out = self.settings.out

        def accept(counters: dict[str, Any]) -> None:
            known, seed = counters.get("sources", {}), counters["seed"]
            if known != sources:
                what = other if known else "begun by an older version"
                raise TtiError(f"{out} was {what}; choose another --out")
            if seed != self.settings.seed:
                raise TtiError(
                    f"{out} holds a run with seed {seed}; use that --seed or another --out"
                )

        saved = load_checkpoint(out, self.model, self.average, self.optimisers, accept)
        self.counters = Counters(**saved) if saved else replace(self.counters, sources={**sources})
        return saved is not None

    def save(self) -> None:
        """Write a checkpoint now, and what ``check`` finds into the log.

        Raises `TtiError` and keeps the old checkpoint if a number is not finite.
        """
        self.journal.settle()
        self.world.align(self.model.parameters())
        if not self.world.leads:
            return
        out, counters = self.settings.out, self.counters
        save_checkpoint(out, self.model, self.average, self.optimisers, asdict(counters))
        found = self.check() if self.check is not None else {}
        if found:
            self.journal.append({"samples": counters.samples, **found})
        self.journal.plot()

    def run(self) -> bool:
        """Train; true when the budget is used up, false when a signal ended it before.

        An exception leaves the last checkpoint as it was, never half of a step.
        """
        budget, counters = self.settings.budget, self.counters
        if budget.finish_minutes is not None and counters.finish_from is None:
            counters.finish_from = counters.seconds
            counters.finish_for = 60 * budget.finish_minutes
        handlers = self._catch_signals()
        self.world.align(self.model.parameters())
        try:
            with _progress(self.world.leads) as bar:
                self._steps(bar)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
        self.save()
        return self._used() >= 1

    def _steps(self, bar: Progress) -> None:
        task = bar.add_task("", total=1.0, note="")
        saved = logged = last = time.monotonic()
        samples, due = self.counters.samples, False
        while True:
            stop, save = self._agree(due)
            if stop:
                return
            if save:
                self.save()
                saved = last = time.monotonic()
            self._step()
            now = time.monotonic()
            self.counters.seconds += now - last
            last = now
            if now - logged >= self.settings.log_seconds or self._used() >= 1:
                speed = (self.counters.samples - samples) / max(now - logged, 1e-9)
                logged, samples = now, self.counters.samples
                bar.update(task, completed=self._used(), note=self._log(speed))
            due = now - saved >= self.settings.save_seconds

    def _agree(self, due: bool) -> tuple[bool, bool]:
        """Whether all processes stop now, and whether a checkpoint is written now.

        A stop asked of any process stops all; time and checkpoints go by the first one's clock.
        """
        counters = self.counters
        rows = self.world.gather([self._stop, counters.seconds, due, counters.step])
        _, counters.seconds, save, step = rows[0]
        if any(row[3] != step for row in rows):
            raise TtiError(
                f"the processes found different checkpoints in {self.settings.out}; "
                f"--out must be a folder that all of them share"
            )
        return any(row[0] for row in rows) or self._used() >= 1, bool(save)

    def _step(self) -> None:
        """One update. The counters change last, when nothing can fail any more."""
        counters = self.counters
        counters.progress = self._budget_used()
        rate = self.schedule.rate(counters.step, counters.progress) * (1 - self._finish_used())
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate * group.get("share", 1.0)
            optimiser.zero_grad(set_to_none=True)
        values = self.loss(counters)
        values["loss"].backward()
        values = {name: value.detach().clone() for name, value in values.items()}
        self.world.mean([*gradients(self.model), *values.values()])
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.journal.note(counters.step, rate, {**values, "norm": norm})
        if (counters.step + 1) % self._look_every == 0:
            self.journal.settle()
        for optimiser in self.optimisers:
            optimiser.step()
        if self.average is not None:
            self.average.update(self.model, counters.step + 1)
        counters.step += 1
        counters.samples += self.settings.batch

    def _budget_used(self) -> float:
        budget = self.settings.budget
        if budget.samples is not None:
            return self.counters.samples / budget.samples
        assert budget.minutes is not None
        return self.counters.seconds / (60 * budget.minutes)

    def _finish_used(self) -> float:
        if self.counters.finish_from is None:
            return 0.0
        return min(
            1.0, (self.counters.seconds - self.counters.finish_from) / self.counters.finish_for
        )

    def _used(self) -> float:
        return max(self._budget_used(), self._finish_used())

    def _log(self, speed: float) -> str:
        """Append the means since the last line to the log; text of the progress line."""
        counters = self.counters
        means = self.journal.means()
        line = {
            "step": counters.step,
            "samples": counters.samples,
            "seconds": round(counters.seconds, 1),
            "samples_per_s": round(speed, 1),
            **{name: float(f"{value:.5g}") for name, value in means.items()},
        }
        self.journal.append(line)
        used = self._used()
        left = self._seconds_left(speed)
        return (
            f"{100 * used:5.1f}%  {counters.samples:,} samples  {speed:.1f}/s  "
            f"loss {means['loss']:.4f}  {int(left // 60)} min {int(left % 60):02d} s left"
        )

    def _seconds_left(self, speed: float) -> float:
        budget, counters = self.settings.budget, self.counters
        if budget.samples is not None:
            left = (budget.samples - counters.samples) / max(speed, 1e-9)
        else:
            assert budget.minutes is not None
            left = 60 * budget.minutes - counters.seconds
        if counters.finish_from is not None:
            left = min(left, counters.finish_from + counters.finish_for - counters.seconds)
        return max(left, 0.0)

    def _catch_signals(self) -> dict[int, Any]:
        """First Ctrl-C or SIGTERM: finish the step and save. A second one: stop at once."""

        def ask(number: int, frame: FrameType | None) -> None:
            now = time.monotonic()
            if self._stop and not (self.world.size > 1 and now - self._stopped_at < ECHO):
                raise KeyboardInterrupt
            self._stop, self._stopped_at = True, now

        numbers = (signal.SIGINT, signal.SIGTERM)
        return {number: signal.signal(number, ask) for number in numbers}


def _progress(shown: bool) -> Progress:
    columns = TextColumn("{task.fields[note]}"), BarColumn(), TimeElapsedColumn()
    return Progress(*columns, disable=not shown)


def pick_device(name: str, shared: bool = False) -> torch.device:
    """ "auto", "cpu" or "cuda" as a device; raises `TtiError` if it is not there.

    ``shared`` says that the command can be run by ``torchrun``; each process has its own GPU then.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise TtiError(f"--device {name} is unknown; choose auto, cpu or cuda")
    if is_one_of_many() and not shared:
        raise TtiError(
            "only diffusion and reflow are trained by several processes; start this one alone"
        )
    if name == "cuda" and not torch.cuda.is_available():
        raise TtiError("torch finds no CUDA device; use --device cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return own_device(name)


def generator(counters: Counters, device: torch.device) -> torch.Generator:
    """Random numbers of one step: they depend on seed and step only, so that runs can resume."""
    return torch.Generator(device).manual_seed((counters.seed << 40) + counters.step)


def prepare_cpu(threads: int) -> None:
    """Set the number of threads, and let glibc keep freed memory instead of returning it.

    A step allocates and frees some hundred megabytes; handing them back to the kernel and
    faulting them in again costs about a sixth of the time of a step.
    """
    torch.set_num_threads(threads)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no glibc: only slower
        return
    trim_threshold, top_pad, mmap_max = -1, -2, -4  # names of <malloc.h>
    mallopt(trim_threshold, 2**31 - 1)
    mallopt(top_pad, 256 << 20)
    mallopt(mmap_max, 0)
