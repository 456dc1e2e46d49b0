"""HTML pages → their text, with resiliparse: the text file that both sides then read.

usage: extract_text.py PAGES.jsonl TEXTS.jsonl. Pages of fewer than 50 words are left out: peers treat texts that are
shorter than a shingle each in its own way, and what they do there is no question of speed.
"""

import json
import sys
from multiprocessing import Pool

from resiliparse.extract.html2text import extract_plain_text

FEWEST_WORDS = 50


def text_line(line: bytes) -> bytes | None:
    page = json.loads(line)
    text = extract_plain_text(page["html"], main_content=False, alt_texts=False, links=False)
    if len(text.split()) < FEWEST_WORDS:
        return None
    return json.dumps({"id": page["id"], "text": text}, ensure_ascii=False).encode() + b"\n"


if __name__ == "__main__":
    with Pool() as pool, open(sys.argv[1], "rb") as pages, open(sys.argv[2], "wb") as texts:
        for line in pool.imap(text_line, pages, chunksize=64):
            if line is not None:
                texts.write(line)
