"""The words by which a page names a value that changes from visit to visit, in the languages of our test data.

Terms are in lower case; of scripts without spaces they are pairs of characters. A marker speaks for the value next to
it. The lists are data: another language is some more words.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: By kind of difference: what stands beside its value.
MARKERS: Final[dict[str, frozenset[str]]] = {
    "time stamp": _words("""
        date time updated update modified changed revised edited posted published printed generated created today now
        clock gmt utc zuletzt geändert aktualisiert stand datum uhr uhrzeit dernière mise jour modifié publié heure
        actualisé обновление обновлено изменено дата время опубликовано 更新 新日 日時 時刻 日付 公開
    """),
    "execution time": _words("""
        seconds second secs sec ms milliseconds msec took elapsed rendered generated loaded executed execution runtime
        queries parse sekunden sekunde erzeugt ladezeit secondes seconde produite générée chargée секунды секунд
        секунда создана 秒 生成 成時 時間
    """),
    "visitor count": _words("""
        visitor visitors visits visit hits hit views view viewed counter online guests users members downloads
        besucher aufrufe zugriffe visiteur visiteurs visites vues посетитель посетителей просмотров посещений
        訪問 問者 人目 閲覧
    """),
    "session id": _words("session sessionid sid phpsessid jsessionid sitzung сеанс сессия セッ ッシ"),
    "message id": _words("""
        message messageid msg msgid mid reference ref ticket request nachrichtennummer nachricht vorgang numéro
        сообщения сообщение メッ 番号 ージ
    """),
    "server name": _words("""
        server served host node backend mirror instance powered ausgeliefert servi serveur сервер サー ーバ
    """),
}

MONTHS: Final = _words("""
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet
    août septembre octobre novembre décembre января февраля марта апреля мая июня июля августа сентября октября
    ноября декабря
""")
DAYS_AND_ZONES: Final = _words("""
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun montag
    dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche
    am pm a p m t z gmt utc est edt cst cdt mst mdt pst pdt cet cest bst uhr h st nd rd th
""")

#: Last parts of paths, and whole paths, under which a site is entered.
ENTRY_WORDS: Final = _words(
    "index default home main welcome enter entry start startseite accueil homepage frontpage intro"
)
