"""FastWARC, imported in one place: the import warns of its own old names, which is no concern of ours."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.stream_io import BrotliReader
    from fastwarc.warc import HeaderMap, WarcRecord

__all__ = ["BrotliReader", "HeaderMap", "WarcRecord"]
