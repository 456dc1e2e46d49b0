"""Two pages side by side: every measure of likeness, and what each detector decides.

    python examples/compare_two_pages.py [A.html B.html]

Without files it compares two versions of a page that differ in a date and in their address.
"""

from __future__ import annotations

import sys
from pathlib import Path

from neardup.comparison import compare

PAGE = """<title>Ferry</title><h1>The ferry to the island</h1>
<p>The ferry leaves at noon from the northern pier and comes back at four in the afternoon. Bicycles travel free; dogs
need a ticket of their own. In a storm the ferry stays in the harbour, and tickets are valid on the next day.
<p>The crossing takes forty minutes in good weather. There is a kiosk on board with coffee, soup and newspapers, and a
shelf of books that travellers have left behind. The upper deck is open from May to September.
<p>Groups of ten and more write to the harbour office a week before they travel. Schools pay half. Whoever has lost
something asks at the window beside the lighthouse, which is open every morning except on Sundays.
<p>Last changed on {date}. This page: {url}"""


def main() -> None:
    if len(sys.argv) == 3:
        a, b = ({"html": Path(name).read_bytes(), "id": name} for name in sys.argv[1:])
    else:
        first, second = "http://harbour.example/ferry", "http://mirror.example/ferry"
        a = {"html": PAGE.format(date="3 May", url=first), "url": first}
        b = {"html": PAGE.format(date="4 May", url=second), "url": second}
    found = compare(a, b)
    print(f"tokens            {found.tokens[0]} and {found.tokens[1]}, term difference {found.term_difference}")
    print(f"B-similarity      {found.b_similarity} of 6")
    print(f"C-similarity      {found.c_similarity} of 384")
    for length, jaccard in found.jaccard.items():
        print(f"Jaccard, k = {length}    {jaccard:.3f}")
    for detector, accepted in found.decisions.items():
        print(f"{detector:<17} {'duplicates' if accepted else 'different'}")


if __name__ == "__main__":
    main()
