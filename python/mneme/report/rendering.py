"""Pages that need no network, from templates."""

from __future__ import annotations

from datetime import datetime, timezone

from mneme import __version__

__all__ = ["rendered"]


def rendered(template: str, *, room: str = "report", **content: object) -> str:
    """Return a page.

    Args:
        template: Its file, as "report.html.j2".
        room: The package of mneme that has it; templates of the room report are found, too.
        content: What the template names, besides `made`, `version` and the styles of code.
    """
    import jinja2  # noqa: PLC0415 - slow to import
    from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]  # noqa: PLC0415

    rooms = dict.fromkeys((room, "report"))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(f"mneme.{one}", ".") for one in rooms]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    light, dark = (HtmlFormatter(style=style) for style in ("default", "github-dark"))
    return environment.get_template(template).render(
        made=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        light_code=light.get_style_defs(".code"),
        dark_code=dark.get_style_defs(".code"),
        **content,
    )
