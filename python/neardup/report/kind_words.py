"""The words by which a page names a value that changes from visit to visit, in the languages of our test data.

Terms are in lower case; of scripts without spaces they are pairs of characters. A marker speaks for the value next to
it. The lists are data: another language is some more words.
"""

from __future__ import annotations

from typing import Final

#: By kind of difference: what stands beside its value.
MARKERS: Final[dict[str, frozenset[str]]] = {
    "time stamp": frozenset(
        ["date", "time", "updated", "update", "modified", "changed", "revised", "edited", "posted", "published", "printed", "generated", "created", "today", "now", "clock", "gmt", "utc", "zuletzt", "geändert", "aktualisiert", "stand", "datum", "uhr", "uhrzeit", "dernière", "mise", "jour", "modifié", "publié", "date", "heure", "actualisé", "обновление", "обновлено", "изменено", "дата", "время", "опубликовано", "更新", "新日", "日時", "時刻", "日付", "公開"]
    ),
    "execution time": frozenset(
        ["seconds", "second", "secs", "sec", "ms", "milliseconds", "msec", "took", "elapsed", "rendered", "generated", "loaded", "executed", "execution", "runtime", "queries", "parse", "sekunden", "sekunde", "erzeugt", "ladezeit", "secondes", "seconde", "produite", "générée", "chargée", "секунды", "секунд", "секунда", "создана", "秒", "生成", "成時", "時間"]
    ),
    "visitor count": frozenset(
        ["visitor", "visitors", "visits", "visit", "hits", "hit", "views", "view", "viewed", "counter", "online", "guests", "users", "members", "downloads", "besucher", "aufrufe", "zugriffe", "visiteur", "visiteurs", "visites", "vues", "посетитель", "посетителей", "просмотров", "посещений", "訪問", "問者", "人目", "閲覧"]
    ),
    "session id": frozenset(["session", "sessionid", "sid", "phpsessid", "jsessionid", "sitzung", "сеанс", "сессия", "セッ", "ッシ"]),
    "message id": frozenset(
        ["message", "messageid", "msg", "msgid", "mid", "reference", "ref", "ticket", "request", "nachrichtennummer", "nachricht", "vorgang", "numéro", "сообщения", "сообщение", "メッ", "番号", "ージ"]
    ),
    "server name": frozenset(
        ["server", "served", "host", "node", "backend", "mirror", "instance", "powered", "ausgeliefert", "servi", "serveur", "сервер", "サー", "ーバ"]
    ),
}  # fmt: skip

MONTHS: Final = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "januar",
        "februar",
        "märz",
        "mai",
        "juni",
        "juli",
        "oktober",
        "dezember",
        "janvier",
        "février",
        "mars",
        "avril",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ]
)
DAYS_AND_ZONES: Final = frozenset(
    [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "mon",
        "tue",
        "tues",
        "wed",
        "thu",
        "thur",
        "thurs",
        "fri",
        "sat",
        "sun",
        "montag",
        "dienstag",
        "mittwoch",
        "donnerstag",
        "freitag",
        "samstag",
        "sonntag",
        "lundi",
        "mardi",
        "mercredi",
        "jeudi",
        "vendredi",
        "samedi",
        "dimanche",
        "am",
        "pm",
        "a",
        "p",
        "m",
        "t",
        "z",
        "gmt",
        "utc",
        "est",
        "edt",
        "cst",
        "cdt",
        "mst",
        "mdt",
        "pst",
        "pdt",
        "cet",
        "cest",
        "bst",
        "uhr",
        "h",
        "st",
        "nd",
        "rd",
        "th",
    ]
)

#: Last parts of paths, and whole paths, under which a site is entered.
ENTRY_WORDS: Final = frozenset(
    [
        "index",
        "default",
        "home",
        "main",
        "welcome",
        "enter",
        "entry",
        "start",
        "startseite",
        "accueil",
        "homepage",
        "frontpage",
        "intro",
    ]
)
