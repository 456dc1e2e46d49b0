"""What all views share: the run, its lists, its texts, the judging, and the way to make an answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.evaluation.judging import Judging
from neardup.web.contents import Contents
from neardup.web.explaining import Explaining
from neardup.web.listing import Lists
from neardup.web.run import OpenRun
from neardup.web.texts import TextIndex

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.responses import HTMLResponse

HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Workspace:
    """One run folder, open in the application."""

    run: OpenRun
    lists: Lists
    texts: TextIndex
    contents: Contents
    explaining: Explaining
    judging: Judging | None
    templates: Environment
    #: What our own pages bring along with a change.
    secret: str

    def html(self, template: str, *, here: str = "", status: int = 200, **context: Any) -> HTMLResponse:
        """A template, filled in."""
        from starlette.responses import HTMLResponse

        shared = {
            "secret": self.secret,
            "name": self.run.folder.name,
            "folder": str(self.run.folder),
            "judging": self.judging,
            "here": here,
        }
        return HTMLResponse(self.templates.get_template(template).render(shared | context), status)

    def close(self) -> None:
        """Lets go of all files."""
        self.texts.close()
        self.run.close()
        if self.judging is not None:
            self.judging.close()


def environment() -> Environment:
    """Templates that escape everything, and fail on what they are not given."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = lambda value: f"{value:,}"
    made.filters["share"] = lambda value: "–" if value is None else f"{100 * value:.1f} %"
    made.filters["two"] = lambda value: "–" if value is None else f"{value:.2f}"
    made.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False, indent=1)
    return made
