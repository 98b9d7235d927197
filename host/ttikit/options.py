"""Options that several commands share."""

from typing import Annotated

import typer

Seed = Annotated[int | None, typer.Option(help="0 to 4294967295; a random one if not given.")]
Steps = Annotated[int, typer.Option(help="Steps of the sampler, 1 to 100; 4 is fast.")]
Guidance = Annotated[float, typer.Option(help="How strictly the prompt is followed, 1 to 5.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Show it without colours.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]
