"""A whole evaluation: opens the inputs, runs the parts, writes the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ttikit.errors import TtiError
from ttikit.evaluate.cache import PictureCache
from ttikit.evaluate.drawing import Artist
from ttikit.evaluate.evaluation import Evaluation
from ttikit.evaluate.expectations import read_expectations
from ttikit.evaluate.page import write_page
from ttikit.evaluate.report import Report
from ttikit.evaluate.settings import ALL, FAST, FULL, OVER_GUIDANCE, OVER_STEPS, QUICK, Plan
from ttikit.model_file import ModelFile, ModelFileError, read_model

if TYPE_CHECKING:
    from ttikit.evaluate.classifier import Judge
    from ttikit.evaluate.reference import Reference


@dataclass(frozen=True)
class Inputs:
    """Files and folders of an evaluation."""

    model: Path
    firmware: Path
    data: Path | None
    weights: Path  # folder of diffusion.safetensors and autoencoder.safetensors
    judge: Path
    cache: Path
    jobs: int = 1

    @property
    def diffusion(self) -> Path:
        """The float text encoder and transformer."""
        return self.weights / "diffusion.safetensors"

    @property
    def autoencoder(self) -> Path:
        """The float autoencoder."""
        return self.weights / "autoencoder.safetensors"


def run(
    inputs: Inputs, out: Path, quick: bool = False, pictures: int | None = None
) -> tuple[Report, Path]:
    """Evaluate and write the page into `out`; returns the figures and the page's path."""
    plan = QUICK if quick else Plan()
    if pictures is not None:
        plan = replace(plan, frechet=pictures)
    model = open_model(inputs.model)
    folder = inputs.cache / f"{model.header.data_crc:08x}-{model.header.metadata_crc:08x}"
    with (
        PictureCache(folder) as cache,
        Artist(inputs.firmware, inputs.model, cache, inputs.jobs) as artist,
    ):
        check_weights(inputs, model)
        evaluation, judge = _opened(inputs, plan, model, artist)
        reference = _reference(inputs, judge)
        evaluation.follow()
        evaluation.collect(OVER_STEPS, OVER_GUIDANCE)
        _truth(evaluation, inputs)
        _float(evaluation, inputs, model)
        _data(evaluation, reference, judge)
    return evaluation.report, write_page(evaluation.report, evaluation.sheets, out)


def _opened(
    inputs: Inputs, plan: Plan, model: ModelFile, artist: Artist
) -> tuple[Evaluation, Judge]:
    from ttikit.evaluate.classifier import load_judge
    from ttikit.training.loop import prepare_cpu

    prepare_cpu(1)
    judge = load_judge(inputs.judge)
    expectations = read_expectations()
    report = Report(
        crc=f"{model.header.data_crc:08x}",
        about=model.metadata.get("about", {}),
        plan=plan,
        expectations=expectations,
        judge=judge.fingerprint,
        judge_samples=judge.samples,
        clear=judge.clear,
        accuracy=dict(judge.accuracy),
    )
    return Evaluation(artist, judge, expectations, plan, report), judge


def open_model(path: Path) -> ModelFile:
    """Read and check a model file; TtiError if it is missing or damaged."""
    try:
        return read_model(path, verify=True)
    except ModelFileError as error:
        raise TtiError(str(error)) from None


def _truth(evaluation: Evaluation, inputs: Inputs) -> None:
    from ttikit.evaluate.reference_pictures import pass_through
    from ttikit.evaluate.renders import renders
    from ttikit.training.autoencoder import load_autoencoder

    plan = evaluation.plan
    plain = renders(evaluation.expectations, plan.seeds, inputs.cache)
    evaluation.truth(plain, pass_through(load_autoencoder(inputs.autoencoder), plain))


def check_weights(inputs: Inputs, model: ModelFile) -> None:
    """Refuse, before any work, float weights of another model."""
    from ttikit.evaluate.precision import check_pair
    from ttikit.training.checkpoint import load_tensors
    from ttikit.training.diffusion import latent_space
    from ttikit.training.latents import check_autoencoder

    float_words = load_tensors(inputs.diffusion)[0].get("text.embed.weight")
    if float_words is None:
        raise TtiError(f"{inputs.diffusion} holds no diffusion model; check --float")
    check_pair(model["text.embed"], float_words.float().numpy(), inputs.diffusion)
    check_autoencoder(inputs.autoencoder, latent_space(inputs.diffusion).autoencoder)


def _float(evaluation: Evaluation, inputs: Inputs, model: ModelFile) -> None:
    from ttikit.export.reference import FloatModel, prompts

    forms = model.metadata["tokenizer"]["forms"]
    evaluation.int8(FloatModel(inputs.diffusion, inputs.autoencoder), forms, prompts())


def _reference(inputs: Inputs, judge: Judge) -> Reference | None:
    from ttikit.evaluate.reference import Reference

    if inputs.data is None:
        return None
    return Reference(inputs.data, judge, inputs.cache, inputs.autoencoder)


def _data(evaluation: Evaluation, reference: Reference | None, judge: Judge) -> None:
    if reference is None:
        evaluation.report.left_out.append(
            "Fréchet distance and nearest training pictures, as no renders were given (`--data`)."
        )
        return
    evaluation.frechet(reference, (FULL, FAST) if evaluation.plan.quick else ALL)
    evaluation.neighbours(reference, judge)
