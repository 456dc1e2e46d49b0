"""selectolax: HTML → the text of the body, one thread, pages already in memory. usage: PAGES.jsonl BYTES"""

import json
import sys
import time

from selectolax.lexbor import LexborHTMLParser

pages, size = [], 0
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        pages.append(json.loads(line)["html"])
        size += len(pages[-1].encode())
        if size >= int(sys.argv[2]):
            break
start = time.perf_counter()
length = 0
for page in pages:
    tree = LexborHTMLParser(page)
    tree.strip_tags(["script", "style"])
    if tree.body is not None:
        length += len(tree.body.text(separator=" "))
print(json.dumps({"bytes": size, "seconds": time.perf_counter() - start, "characters": length}))
