"""int8 against float: an exact copy has no error, and a known disturbance is found where it is."""

from pathlib import Path

import numpy as np
import pytest
from ttikit.errors import TtiError
from ttikit.evaluate.firmware import Job

torch = pytest.importorskip("torch")

from ttikit.data.vocabulary import FORMS  # noqa: E402
from ttikit.evaluate import precision  # noqa: E402
from ttikit.export.reference import FloatModel, board_noise, tokens  # noqa: E402
from ttikit.training.models import Decoder, ModelConfig, TextToLatent  # noqa: E402
from ttikit.training.sampling import one_branch  # noqa: E402

JOBS = [Job("девушка", 3, 2, 200), Job("пожилой мужчина", 4, 2, 200), Job("дед", 5, 2, 200)]


@pytest.fixture(scope="module")
def source():
    torch.manual_seed(0)
    model = FloatModel.__new__(FloatModel)
    model.model = TextToLatent(ModelConfig(guides=5, paces=5)).eval()
    parts = model.model
    for parameter in (parts.dit.final.weight, parts.dit.adaln.weight, parts.guide, parts.pace):
        torch.nn.init.normal_(parameter, std=0.02)
    model.mean, model.std = torch.full((4,), 0.1), torch.full((4,), 1.5)
    model.decoder = Decoder().eval()
    return model


@pytest.fixture(scope="module")
def exact(source):
    """What firmware without any error would send for each of JOBS."""
    out = []
    for job in JOBS:
        ids = torch.from_numpy(tokens([job.prompt], FORMS))
        with torch.no_grad():
            field = one_branch(source.model, ids, job.guidance / 100, job.steps)
            x, latents = board_noise(job.seed), []
            for i in range(job.steps):
                x = x - field(x, 1 - i / job.steps) / job.steps
                latents.append(x.reshape(8, 2, 8, 2, 4).permute(0, 2, 1, 3, 4).numpy())
            text = source.model.text(ids).numpy()
            final = (x * source.std + source.mean).numpy()
        out.append([text, *latents, source.pictures(final)])
    return out


def sent(stages):
    return [[np.ascontiguousarray(part).tobytes() for part in job] for job in stages]


def test_an_exact_copy_has_no_error(source, exact):
    found = precision.measure(source, FORMS, JOBS, sent(exact))
    assert found.count == 3 and len(found.steps) == 2
    assert found.text.worst < 1e-5
    assert max(step.worst for step in found.steps) < 1e-5
    assert found.picture.worst < 0.01 and found.decoder.worst < 0.01


def test_errors_are_found_in_their_stage(source, exact):
    disturbed = [list(job) for job in exact]
    disturbed[1][0] = disturbed[1][0] * 1.25
    disturbed[2][1] = disturbed[2][1] * 0.9
    disturbed[0][3] = np.where(exact[0][3] < 128, exact[0][3] + 8, exact[0][3] - 8)
    found = precision.measure(source, FORMS, JOBS, sent(disturbed))
    assert (found.text.worst, found.text.mean) == pytest.approx((0.25, 0.25 / 3), abs=1e-4)
    assert found.steps[0].worst == pytest.approx(0.1, abs=1e-4)
    assert found.steps[1].worst < 1e-5
    assert found.picture.worst == pytest.approx(8, abs=0.01)
    assert found.picture.mean == pytest.approx(8 / 3, abs=0.01)


def test_the_decoder_alone_gets_the_firmwares_latent(source, exact):
    """A wrong last latent is no error of the decoder, if the picture is that of the latent."""
    job = list(exact[0])
    latent = np.random.default_rng(0).normal(size=1024).astype(np.float32)
    plane = latent.reshape(8, 8, 2, 2, 4).transpose(0, 2, 1, 3, 4).reshape(1, 16, 16, 4)
    final = plane * source.std.numpy() + source.mean.numpy()
    job[2], job[3] = latent, source.pictures(final.astype(np.float32))
    found = precision.measure(source, FORMS, JOBS[:1], sent([job]))
    assert found.decoder.worst < 0.01
    assert found.picture.worst > 1 and found.steps[1].worst > 0.5


def test_jobs_of_two_settings_are_refused(source):
    with pytest.raises(ValueError, match="share one setting"):
        precision.measure(source, FORMS, [JOBS[0], Job("дед", 1, 4, 200)], [])


def test_weights_of_another_model_are_refused():
    words = np.random.default_rng(1).normal(size=(64, 96)).astype(np.float32)
    precision.check_pair(words.astype(np.float16).astype(np.float32), words, Path("x"))
    for other in (words[:, ::-1], words[:32], words + 1e-2 * (words > 2)):
        with pytest.raises(TtiError, match="x is not what the model was exported from"):
            precision.check_pair(words, other, Path("x"))
