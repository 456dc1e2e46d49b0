"""English, as the generated web speaks it."""

from __future__ import annotations

from typing import Final

from neardup.testing.language import Language, Topic, vocabulary

ENGLISH: Final = Language(
    code="en",
    space=" ",
    topics=(
        Topic(
            "harbour towns",
            vocabulary("""
                harbour walls, fishing boats, ferries, lighthouses, tide tables, customs houses, slipways,
                rope makers, sail lofts, oyster beds, pilots, salt marshes, dockers, warehouses,
                storm signals, sea charts, coastal paths, sand banks, shipwrights, lifeboats, quays,
                fish markets, breakwaters, signal towers, net menders, regattas
            """),
            vocabulary("""
                protect, cross, supply, overlook, outlast, guide, attract, replace, shelter, connect,
                delay, mark, survey, reach
            """),
        ),
        Topic(
            "bicycles",
            vocabulary("""
                touring bicycles, gear hubs, saddle bags, chain guards, brake cables, steel frames,
                spokes, inner tubes, handlebars, repair stands, cargo trailers, hill climbs, club rides,
                puncture kits, bottom brackets, wheel builders, cycle lanes, lamps, pedals, mudguards,
                tyre levers, panniers, folding bikes, commuters
            """),
            vocabulary("""
                improve, fit, need, outperform, carry, replace, suit, match, wear out, support, lighten,
                test, follow
            """),
        ),
        Topic(
            "gardens",
            vocabulary("""
                rose beds, kitchen gardens, compost heaps, apple trees, glasshouses, hedges, seedlings,
                ponds, pruning shears, water butts, bumblebees, climbing beans, wild flowers, mulches,
                raised beds, garden paths, bulbs, slugs, perennials, cold frames, walled gardens,
                orchards, nurseries
            """),
            vocabulary("""
                feed, shade, outgrow, attract, need, protect, surround, follow, brighten, dry out,
                root in, compete with, enrich
            """),
        ),
        Topic(
            "computing",
            vocabulary("""
                database servers, backup tapes, compilers, mail gateways, routers, release notes,
                log files, test machines, file systems, user groups, network cards, printer queues,
                web crawlers, search engines, memory modules, administrators, scripts, disk arrays,
                spreadsheets, protocols, keyboards, patches, mailing lists, terminals
            """),
            vocabulary("""
                index, slow down, replace, monitor, corrupt, share, update, require, speed up, archive,
                reject, describe, break, extend
            """),
        ),
        Topic(
            "local history",
            vocabulary("""
                parish records, stone bridges, market crosses, mill races, toll roads, burial mounds,
                church bells, land surveys, court rolls, railway cuttings, almshouses, town charters,
                tithe barns, field names, iron works, turnpikes, manor houses, schoolmasters, excavations,
                old maps, coins, county archives
            """),
            vocabulary("""
                mention, predate, explain, survive, describe, replace, cover, surround, confirm,
                contradict, record, resemble, document
            """),
        ),
        Topic(
            "cooking",
            vocabulary("""
                rye loaves, soup pots, smoked herrings, pickled onions, butter sauces, cast iron pans,
                pastries, summer berries, bean stews, kitchen scales, spice mixes, cheese boards,
                dumplings, broths, roast roots, sourdough starters, pancakes, honey cakes, apprentices,
                chopping boards, ovens, plum jams, herb salads
            """),
            vocabulary("""
                sweeten, accompany, thicken, outlast, need, replace, flavour, complement, balance, brown,
                soak up, resemble, improve
            """),
        ),
    ),
    adjectives=vocabulary("""
                old, new, narrow, reliable, rare, local, heavy, well known, inexpensive, careful, broad,
                quiet, northern, recent, modest, handmade, temporary, early, restored, popular, spare,
                unusual, sturdy, plain, remarkable, forgotten, small, seasonal, independent, large
            """),
    places=vocabulary("""
                in Ashford, near Kelso, in the old town, along the river, in Whitby, at the county show,
                north of Truro, on the west coast, in Ludlow, around Bristol, in many villages,
                at the annual fair, in Galway, outside Norwich, on the islands, in Durham
            """),
    times=vocabulary("""
                since last spring, every autumn, for the first time, in most years, on weekdays,
                until the end of May, after the storm, before the war, during the summer months,
                twice a week, by tradition, without exception, at short notice, for generations
            """),
    people=vocabulary("""
                Alice, Martin, Joan, Peter, Ruth, Simon, Clare, Edward, Helen, Thomas, Nora, Philip,
                Grace, Hugh, Irene, Walter
            """),
    families=vocabulary("""
                Fletcher, Marsh, Holloway, Greene, Pritchard, Ashby, Lowe, Tanner, Whitlock, Barrow,
                Kendal, Ogden, Radcliffe, Sutton, Thorne, Yates
            """),
    sentences=(
        "The {adjective} {noun} {verb} {adjective} {noun} {place}.",
        "{time}, {noun} {place} {verb} the {noun} that most visitors remember.",
        "{person} says that {adjective} {noun} {verb} {noun} {time}.",
        "Of all the {noun} {place}, only {number} still {verb} {noun}.",
        "{company} sells {adjective} {noun} and {adjective} {noun} {time}.",
        "How do {noun} {verb} {adjective} {noun}, and why {place}?",
        "According to {person} of {company}, {noun} rarely {verb} {adjective} {noun}.",
        "Some {noun} are {adjective}, others {adjective}; all of them {verb} {noun}.",
        "We counted {number} {noun} {place}, more than {company} had expected.",
        "If the {noun} are {adjective}, they {verb} {noun} {time}.",
        "{person} and {person} have written about {adjective} {noun} {place} {time}.",
        "There is no better guide to {noun} than the {adjective} {noun} {place}.",
    ),
    headlines=(
        "{adjective} {noun} and how they {verb} {noun}",
        "Why {noun} {verb} {adjective} {noun}",
        "{company}: {adjective} {noun} {place}",
        "{noun} {place}: a visit with {person}",
        "The {number} {noun} of {person}",
        "A short guide to {adjective} {noun}",
    ),
    boilerplate=(
        "All rights reserved; no part of these pages may be reproduced without written permission.",
        "We accept no liability for the content of external links, which are their owners' alone.",
        "Prices include value added tax where it applies and exclude postage unless stated otherwise.",
        "Names of products may be trademarks of their owners and are used for identification only.",
        "By using this site you agree to our terms of use and privacy policy, which may change at any time.",
        "Please report broken links and other errors to the webmaster, who reads every message.",
        "Orders received before noon are dispatched the same day by first class mail or by courier.",
        "This site is best viewed with a screen of at least eight hundred by six hundred points.",
        "Opinions expressed by contributors are their own and are not necessarily those of the editors.",
        "Information is provided without warranty of any kind, either express or implied.",
        "To unsubscribe from the newsletter follow the link at the end of any issue.",
        "Returns are accepted within thirty days, provided goods are unused and in the original packing.",
    ),
    words={
        "home": "Home",
        "products": "Products",
        "news": "News",
        "forum": "Forum",
        "contact": "Contact us",
        "about": "About",
        "search": "Search",
        "help": "Help",
        "terms": "Terms of use",
        "links": "Links",
        "archive": "Archive",
        "events": "Events",
        "gallery": "Gallery",
        "newsletter": "Newsletter",
        "directory": "Directory",
        "privacy": "Privacy",
        "jobs": "Vacancies",
        "press": "Press",
        "time_stamp": "Last updated: {}",
        "visitor_count": "You are visitor number {}",
        "execution_time": "Page generated in {} seconds",
        "session_id": "Your session: {}",
        "message_id": "Message id: {}",
        "server_name": "Served by {}",
        "url": "Address of this page: {}",
        "advertisement": "Advertisement",
        "box": "In brief",
        "see_also": "See also",
        "price": "Price",
        "order": "Order number",
        "basket": "Add to basket",
        "stock": "In stock: {}",
        "phone": "Telephone",
        "street": "Street",
        "opening": "Opening hours",
        "hours": "Monday to Friday, 9 to 5",
        "record": "Record",
        "sequence": "Sequence",
        "reference": "Reference",
        "source": "Source",
        "posted": "{} wrote on {}",
        "reply": "Reply",
        "release": "For immediate release",
        "press_contact": "Press contact: {}",
        "sale": "The domain {} is for sale",
        "make_offer": "Make an offer for {} today",
        "sponsored": "Sponsored listings",
        "welcome": "Welcome to {}",
        "enter": "Enter here",
        "adults": "If you are not redirected, please click on the picture below.",
        "inquiry": "Send us an inquiry",
        "your_name": "Your name",
        "your_message": "Your message",
        "send": "Send",
        "clear": "Clear",
        "interest": "I am interested in {}, please send me further information.",
        "list": "Complete list",
        "sort": "Sorted by {}",
        "by_name": "name",
        "by_price": "price",
        "by_date": "date",
        "log_in": "Please log in or register to read on.",
        "user": "User name",
        "password": "Password",
        "moved": "This page has moved. You will be taken to its new address in a few seconds.",
        "written_by": "By {}",
        "items": "Item",
        "value": "Value",
    },
)
