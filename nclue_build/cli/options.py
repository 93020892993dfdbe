"""The options that every verb takes, before or after its name."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from nclue_build.cli.session import Session

_COMMON: tuple[tuple[str, Any, object], ...] = (
    (
        "workspace",
        Annotated[
            Path | None,
            typer.Option(
                "--workspace", "-w", metavar="DIR", help="Workspace (default: NCLUE_WORKSPACE, else the nearest above)."
            ),
        ],
        None,
    ),
    (
        "build",
        Annotated[
            str | None,
            typer.Option("--build", "-b", metavar="NAME", help="Build (default: the only one, else default_build)."),
        ],
        None,
    ),
    ("json", Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")], False),
    (
        "quiet",
        Annotated[bool, typer.Option("--quiet", "-q", help="Only the essence of the result, and warnings.")],
        False,
    ),
    ("verbose", Annotated[bool, typer.Option("--verbose", "-v", help="Trace back errors.")], False),
)


def with_common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the common options: it gets them merged, as its first argument."""
    own = list(inspect.signature(function).parameters.values())[1:]
    keyword = inspect.Parameter.KEYWORD_ONLY
    common = [inspect.Parameter(name, keyword, default=default, annotation=kind) for name, kind, default in _COMMON]

    @functools.wraps(function)
    def command(context: typer.Context, **values: Any) -> Any:
        session = context.ensure_object(Session)
        flags = {name: values.pop(name) for name in ("json", "quiet", "verbose")}
        session.merge(values.pop("workspace"), values.pop("build"), **flags)
        return function(session, **values)

    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    own = [parameter.replace(kind=keyword) for parameter in own]
    parameters = [context, *own, *common]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del command.__wrapped__
    return command
