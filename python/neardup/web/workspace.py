"""What all views share: the run, its lists, its texts, the judging, and the way to make an answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neardup.errors import NeardupError
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
#: The names of so many pages are read before anybody asks for an explanation; of more only then.
_EXPLAINED_AHEAD: Final = 200_000


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

    def warm(self) -> None:
        """Reads ahead what the first views need, so that whoever asks for them does not wait."""
        try:
            run = self.run
            cut = run.cut()
            _ = cut.cohesion, cut.sites, cut.kept_count, run.reasons, run.site_names, run.steps
            if len(cut.first) and run.counts["pages"] <= _EXPLAINED_AHEAD:
                self.explaining.pair(*cut.members(int(cut.first[0]))[:2].tolist())
        except NeardupError:
            # Whoever asks first is told.
            return

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
