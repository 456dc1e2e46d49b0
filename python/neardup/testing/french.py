"""French, as the generated web speaks it."""

from __future__ import annotations

from typing import Final

from neardup.testing.language import Language, Topic, vocabulary

FRENCH: Final = Language(
    code="fr",
    space=" ",
    topics=(
        Topic(
            "vignobles",
            vocabulary("""
                vignes, caves, tonneaux, vendangeurs, coteaux, bouteilles, pressoirs, cépages, récoltes,
                domaines, bouchons, dégustations, chais, millésimes, terroirs, négociants, étiquettes,
                sommeliers, parcelles, grappes
            """),
            vocabulary("""
                dominent, remplacent, accompagnent, entourent, révèlent, attirent, protègent, complètent,
                réclament, enrichissent, précèdent
            """),
        ),
        Topic(
            "cinéma",
            vocabulary("""
                films muets, salles, projecteurs, scénaristes, festivals, acteurs, affiches, critiques,
                décors, studios, caméras, spectateurs, dialogues, costumes, archives, courts métrages,
                cinéphiles, bobines, génériques, monteurs
            """),
            vocabulary("""
                inspirent, racontent, éclairent, séduisent, remplacent, accompagnent, divisent,
                rappellent, annoncent, évoquent, habillent
            """),
        ),
        Topic(
            "randonnée",
            vocabulary("""
                sentiers, refuges, cols, vallées, lacs, glaciers, cartes, gîtes, rivières, falaises,
                forêts, villages, bergers, marmottes, sources, crêtes, marcheurs, guides, sommets,
                cascades
            """),
            vocabulary("""
                traversent, relient, surplombent, abritent, attirent, bordent, longent, contournent,
                alimentent, séparent, signalent
            """),
        ),
    ),
    adjectives=vocabulary("""
                célèbres, rares, modestes, fragiles, solides, modernes, tranquilles, historiques, fidèles,
                rapides, simples, utiles, immenses, agréables, remarquables, modiques, fiables, vastes,
                authentiques, rustiques, calmes, insolites
            """),
    places=vocabulary("""
                en Bourgogne, près de Nantes, dans la vieille ville, au bord de la Loire, à Grenoble,
                dans les Vosges, autour du lac, à la campagne, en Bretagne, à Lyon, dans tout le canton,
                sur la côte
            """),
    times=vocabulary("""
                depuis dix ans, chaque automne, pour la première fois, en semaine, jusqu'en mai,
                après les travaux, en général, deux fois par mois, sans exception, dès le printemps,
                à la belle saison, depuis toujours
            """),
    people=vocabulary("""
                Amélie, Bernard, Claire, Denis, Élodie, François, Gisèle, Henri, Inès, Julien, Lucie,
                Mathieu, Odile, René
            """),
    families=vocabulary("""
                Aubert, Bonnet, Carpentier, Delmas, Fabre, Girard, Lefèvre, Marchand, Noël, Perrin,
                Rousset, Tessier, Vasseur, Weiss
            """),
    sentences=(
        "Les {noun} {adjective} {verb} les {noun} {place}.",
        "Selon {person}, les {noun} {verb} {time} les {noun} {adjective}.",
        "{time}, les {noun} {place} {verb} les {noun} {adjective}.",
        "La maison {company} propose les {noun} {adjective} et les {noun} {time}.",
        "Parmi les {number} {noun} {place}, les plus {adjective} {verb} les {noun}.",
        "Comment les {noun} {verb} les {noun} {adjective}, voilà ce que montre {person}.",
        "Les {noun} et les {noun} {adjective} {verb} {time} les {noun}.",
        "On compte {place} plus de {number} {noun}, souvent {adjective}.",
        "{person} et {person} ont décrit les {noun} {adjective} {place}.",
        "Pour {company}, les {noun} {verb} rarement les {noun} {adjective}.",
    ),
    headlines=(
        "Les {noun} {adjective} {place}",
        "Pourquoi les {noun} {verb} les {noun} {adjective}",
        "{company} : les {noun} et les {noun} {adjective}",
        "Les {number} {noun} de {person}",
        "Avec {person}, les {noun} {adjective}",
    ),
    boilerplate=(
        "Tous droits réservés ; toute reproduction est soumise à l'autorisation écrite de l'éditeur.",
        "Nous déclinons toute responsabilité quant au contenu des sites vers lesquels pointent nos liens.",
        "Les prix s'entendent toutes taxes comprises, hors frais de port, selon les stocks disponibles.",
        "En poursuivant votre visite vous acceptez nos conditions générales d'utilisation.",
        "Les informations publiées ici sont données à titre indicatif et sans garantie.",
        "Merci de signaler les liens rompus au responsable du site, qui lit tous les messages.",
        "Les commandes reçues avant midi sont expédiées le jour même.",
        "Les opinions exprimées n'engagent que leurs auteurs et non la rédaction.",
    ),
    words={
        "home": "Accueil",
        "products": "Produits",
        "news": "Actualités",
        "forum": "Forum",
        "contact": "Nous écrire",
        "about": "À propos",
        "search": "Rechercher",
        "help": "Aide",
        "terms": "Conditions",
        "links": "Liens",
        "archive": "Archives",
        "events": "Agenda",
        "gallery": "Photos",
        "newsletter": "Lettre d'information",
        "directory": "Annuaire",
        "privacy": "Vie privée",
        "jobs": "Emplois",
        "press": "Presse",
        "time_stamp": "Dernière mise à jour : {}",
        "visitor_count": "Vous êtes le visiteur numéro {}",
        "execution_time": "Page produite en {} secondes",
        "session_id": "Votre session : {}",
        "message_id": "Numéro du message : {}",
        "server_name": "Servi par {}",
        "url": "Adresse de cette page : {}",
        "advertisement": "Publicité",
        "box": "En bref",
        "see_also": "Voir aussi",
        "price": "Prix",
        "order": "Numéro de commande",
        "basket": "Ajouter au panier",
        "stock": "En stock : {}",
        "phone": "Téléphone",
        "street": "Rue",
        "opening": "Horaires",
        "hours": "Du lundi au vendredi, de 9 h à 17 h",
        "record": "Notice",
        "sequence": "Séquence",
        "reference": "Référence",
        "source": "Provenance",
        "posted": "{} a écrit le {}",
        "reply": "Répondre",
        "release": "Pour diffusion immédiate",
        "press_contact": "Contact presse : {}",
        "sale": "Le domaine {} est à vendre",
        "make_offer": "Faites une offre pour {} dès aujourd'hui",
        "sponsored": "Liens commerciaux",
        "welcome": "Bienvenue chez {}",
        "enter": "Entrez ici",
        "adults": "Si rien ne se passe, cliquez sur l'image ci-dessous.",
        "inquiry": "Envoyez-nous une demande",
        "your_name": "Votre nom",
        "your_message": "Votre message",
        "send": "Envoyer",
        "clear": "Effacer",
        "interest": "Je m'intéresse à {}, merci de m'envoyer des renseignements.",
        "list": "Liste complète",
        "sort": "Trié par {}",
        "by_name": "nom",
        "by_price": "prix",
        "by_date": "date",
        "log_in": "Veuillez vous identifier pour lire la suite.",
        "user": "Nom d'utilisateur",
        "password": "Mot de passe",
        "moved": "Cette page a changé d'adresse. Vous allez y être conduit dans quelques secondes.",
        "written_by": "Par {}",
        "items": "Article",
        "value": "Valeur",
    },
)
