"""German, as the generated web speaks it."""

from __future__ import annotations

from typing import Final

from neardup.testing.language import Language, Topic, vocabulary

GERMAN: Final = Language(
    code="de",
    space=" ",
    topics=(
        Topic(
            "Handwerk",
            vocabulary("""
                Werkstätten, Hobelbänke, Holzböden, Fensterrahmen, Dachstühle, Gesellen, Meisterbriefe,
                Sägen, Treppen, Schränke, Schrauben, Leimfugen, Auftraggeber, Zimmerleute, Lehrlinge,
                Messgeräte, Öfen, Kostenvoranschläge, Türschlösser, Bauzeichnungen
            """),
            vocabulary("""
                ersetzen, benötigen, tragen, verbinden, überdauern, schützen, prüfen, ergänzen, verlangen,
                verzieren, begleiten
            """),
        ),
        Topic(
            "Eisenbahn",
            vocabulary("""
                Dampflokomotiven, Nebenstrecken, Bahnhöfe, Fahrpläne, Güterwagen, Stellwerke, Tunnel,
                Brücken, Bahnsteige, Schaffner, Speisewagen, Schienen, Weichen, Fahrgäste, Modellbahnen,
                Signale, Viadukte, Triebwagen, Bahnübergänge, Sonderzüge
            """),
            vocabulary("""
                erreichen, befördern, ersetzen, kreuzen, verbinden, überholen, beeindrucken, verkürzen,
                beliefern, begrenzen, erschließen
            """),
        ),
        Topic(
            "Wandern",
            vocabulary("""
                Berghütten, Wanderwege, Gipfel, Täler, Almwiesen, Bergbäche, Seilbahnen, Rucksäcke,
                Wanderkarten, Felsen, Gletscher, Aussichtstürme, Wälder, Herbergen, Wegweiser, Höhlen,
                Wasserfälle, Bergführer, Stauseen, Quellen
            """),
            vocabulary("""
                umgeben, verbinden, begeistern, durchqueren, versorgen, überragen, schützen, begleiten,
                speisen, prägen, verdecken
            """),
        ),
    ),
    adjectives=vocabulary("""
                alten, neuen, seltenen, bekannten, günstigen, kleinen, großen, zuverlässigen, beliebten,
                schmalen, historischen, einfachen, schweren, modernen, stillen, regionalen, berühmten,
                sorgfältigen, breiten, erhaltenen, nördlichen, vergessenen
            """),
    places=vocabulary("""
                in Göttingen, am Bodensee, im Harz, bei Bamberg, in der Altstadt, an der Elbe, in Münster,
                im Schwarzwald, nahe der Grenze, auf dem Land, in Leipzig, im ganzen Bezirk,
                vor den Toren der Stadt
            """),
    times=vocabulary("""
                seit Jahren, im Frühjahr, jeden Sommer, zum ersten Mal, an Werktagen, bis heute,
                seit dem Umbau, in der Regel, vor allem im Herbst, ohne Unterbrechung, nach Voranmeldung,
                zweimal im Monat
            """),
    people=vocabulary("""
                Anna, Bernd, Christa, Dieter, Elke, Friedrich, Greta, Hans, Ilse, Jürgen, Karin, Lothar,
                Monika, Uwe
            """),
    families=vocabulary("""
                Bergmann, Dietz, Engel, Fuchs, Hartwig, Jäger, Krämer, Lindner, Möller, Oster, Pohl,
                Reuter, Schäfer, Vogt
            """),
    sentences=(
        "Die {adjective} {noun} {verb} {time} die {adjective} {noun} {place}.",
        "{person} berichtet, dass die {noun} {place} die {adjective} {noun} {verb}.",
        "Von den Gästen wissen nur {number}, warum die {noun} {time} die {noun} {verb}.",
        "Die Firma {company} bietet {time} die {adjective} {noun} und die {noun} an.",
        "Wie die {noun} {place} die {adjective} {noun} {verb}, zeigt {person}.",
        "Es gibt {place} rund {number} Gründe, warum die {noun} die {noun} {verb}.",
        "Die {noun} und die {adjective} {noun} {verb} {time} die {noun}.",
        "Wer die {adjective} {noun} kennt, findet {place} auch die {noun}.",
        "Laut {company} {verb} die {noun} {place} die {adjective} {noun} kaum noch.",
        "{person} und {person} haben {time} die {adjective} {noun} {place} beschrieben.",
    ),
    headlines=(
        "Die {adjective} {noun} {place}",
        "Warum die {noun} die {adjective} {noun} {verb}",
        "{company}: die {noun} und die {adjective} {noun}",
        "Mit {person} durch die {adjective} {noun}",
        "Die {number} {adjective} {noun} von {person}",
    ),
    boilerplate=(
        "Alle Rechte vorbehalten; jede Vervielfältigung bedarf der schriftlichen Genehmigung des Betreibers.",
        "Für die Inhalte verlinkter Seiten sind ausschließlich deren Betreiber verantwortlich.",
        "Alle Preise verstehen sich einschließlich der Mehrwertsteuer und zuzüglich Versandkosten.",
        "Es gelten unsere allgemeinen Geschäftsbedingungen und die Hinweise zum Datenschutz.",
        "Die Angaben auf diesen Seiten wurden sorgfältig geprüft, sind aber ohne Gewähr.",
        "Gekennzeichnete Beiträge geben die Meinung ihrer Verfasser und nicht der Redaktion wieder.",
        "Bestellungen, die bis zwölf Uhr eingehen, verlassen unser Lager noch am selben Tag.",
        "Bitte melden Sie fehlerhafte Verweise an den Betreuer dieser Seiten.",
    ),
    words={
        "home": "Startseite",
        "products": "Produkte",
        "news": "Aktuelles",
        "forum": "Forum",
        "contact": "Kontakt",
        "about": "Über uns",
        "search": "Suche",
        "help": "Hilfe",
        "terms": "Geschäftsbedingungen",
        "links": "Verweise",
        "archive": "Archiv",
        "events": "Termine",
        "gallery": "Bilder",
        "newsletter": "Rundbrief",
        "directory": "Verzeichnis",
        "privacy": "Datenschutz",
        "jobs": "Stellen",
        "press": "Presse",
        "time_stamp": "Zuletzt geändert: {}",
        "visitor_count": "Sie sind Besucher Nummer {}",
        "execution_time": "Seite erzeugt in {} Sekunden",
        "session_id": "Ihre Sitzung: {}",
        "message_id": "Nachrichtennummer: {}",
        "server_name": "Ausgeliefert von {}",
        "url": "Adresse dieser Seite: {}",
        "advertisement": "Anzeige",
        "box": "Kurz gemeldet",
        "see_also": "Siehe auch",
        "price": "Preis",
        "order": "Bestellnummer",
        "basket": "In den Warenkorb",
        "stock": "Auf Lager: {}",
        "phone": "Telefon",
        "street": "Straße",
        "opening": "Öffnungszeiten",
        "hours": "Montag bis Freitag, 9 bis 17 Uhr",
        "record": "Datensatz",
        "sequence": "Folge",
        "reference": "Nachweis",
        "source": "Quelle",
        "posted": "{} schrieb am {}",
        "reply": "Antworten",
        "release": "Zur sofortigen Veröffentlichung",
        "press_contact": "Pressekontakt: {}",
        "sale": "Die Domain {} steht zum Verkauf",
        "make_offer": "Bieten Sie noch heute für {}",
        "sponsored": "Gesponserte Einträge",
        "welcome": "Willkommen bei {}",
        "enter": "Hier eintreten",
        "adults": "Falls Sie nicht weitergeleitet werden, klicken Sie bitte auf das Bild unten.",
        "inquiry": "Senden Sie uns eine Anfrage",
        "your_name": "Ihr Name",
        "your_message": "Ihre Nachricht",
        "send": "Absenden",
        "clear": "Löschen",
        "interest": "Ich interessiere mich für {}, bitte senden Sie mir weitere Angaben.",
        "list": "Vollständige Liste",
        "sort": "Sortiert nach {}",
        "by_name": "Name",
        "by_price": "Preis",
        "by_date": "Datum",
        "log_in": "Bitte melden Sie sich an, um weiterzulesen.",
        "user": "Benutzername",
        "password": "Kennwort",
        "moved": "Diese Seite ist umgezogen. Sie werden in wenigen Sekunden zur neuen Adresse geleitet.",
        "written_by": "Von {}",
        "items": "Artikel",
        "value": "Wert",
    },
)
