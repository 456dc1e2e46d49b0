"""Pages as a visitor sees them: a real browser runs their scripts, follows their redirects and fills their frames.

>>> from neardup.render import Limits, RenderSettings
>>> RenderSettings(limits=Limits(seconds=10), pages=2).sandbox
True
"""

from __future__ import annotations

from neardup.render.job import Rendering, render, render_pages, render_urls
from neardup.render.settings import Job, Limits, Rendered, RenderSettings
from neardup.render.sink import RENDERED, write_rendered

__all__ = [
    "RENDERED",
    "Job",
    "Limits",
    "RenderSettings",
    "Rendered",
    "Rendering",
    "render",
    "render_pages",
    "render_urls",
    "write_rendered",
]
