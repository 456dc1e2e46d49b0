"""FastWARC and resiliparse: every page of an archive to text, and nothing more. usage: FILE.warc.gz"""

import sys

from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text

pages = characters = 0
with open(sys.argv[1], "rb") as file:
    for record in ArchiveIterator(file, record_types=WarcRecordType.response):
        html = record.reader.read().decode("utf-8", "replace")
        characters += len(extract_plain_text(html, main_content=False, alt_texts=False, links=False))
        pages += 1
print(pages, characters)
