//! The words by which a page names what changes by itself, in one table: what makes a number a date, an age or a counter,
//! and what stands beside a value that changes from visit to visit.
//!
//! The lists are data: another language is some more words. Words are terms as [`crate::terms`] cuts them: lower case, and
//! of scripts without spaces pairs of characters. Two consumers read them: [`super::kind`], which tells what a page says
//! from what changes on it, and [`super::look`], for those who say what a difference is. A word may be in several lists; for
//! [`super::kind`] the first one with a kind decides.
//!
//! Prices are in no list: another price is another page.

use super::Kind;

/// What the words of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Months,
    /// Times of day and their zones.
    Clock,
    /// Signs of years, months, days and hours.
    Calendar,
    /// Names of days.
    Weekdays,
    /// What makes a length of time an age.
    Ago,
    /// Lengths of time.
    Units,
    Seconds,
    /// What is counted on pages, and by itself says nothing.
    Counters,
    /// Parts of a time that are words of their own in any text.
    Letters,
    /// Said beside a date of change.
    Updated,
    /// Said beside the time that something took.
    Took,
    /// Counted too, but elsewhere a number that says something ("a table for 4 guests").
    Counted,
    Session,
    Message,
    Server,
}

impl List {
    /// What its words are to a run of numbers and words; none if they are only looked for beside it.
    pub(super) const fn kind(self) -> Option<Kind> {
        match self {
            Self::Months | Self::Clock | Self::Calendar => Some(Kind::Month),
            Self::Weekdays => Some(Kind::Weekday),
            Self::Ago => Some(Kind::Ago),
            Self::Units => Some(Kind::Unit),
            Self::Seconds => Some(Kind::Seconds),
            Self::Counters => Some(Kind::Counter),
            _ => None,
        }
    }
}

impl List {
    /// Lists that are looked for beside a value, by the kind of difference that they speak for.
    pub const MARKERS: [(&str, &[Self]); 6] = [
        ("time stamp", &[Self::Updated]),
        ("execution time", &[Self::Seconds, Self::Took]),
        ("visitor count", &[Self::Counters, Self::Counted]),
        ("session id", &[Self::Session]),
        ("message id", &[Self::Message]),
        ("server name", &[Self::Server]),
    ];
}

/// All lists, in the order of [`List`].
pub const LISTS: [(List, &str); 15] = [
    (
        List::Months,
        "january february march april may june july august september october november december \
        jan feb mar apr jun jul aug sep sept oct nov dec \
        januar februar märz mai juni juli oktober dezember mär okt dez \
        janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr juil déc \
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic \
        gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre gen mag giu lug set ott \
        janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev mai out \
        januari februari maart mei augustus mrt \
        января февраля марта апреля мая июня июля августа сентября октября ноября декабря \
        январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь \
        янв фев мар апр июн июл авг сен сент окт ноя дек \
        يناير فبراير مارس أبريل ابريل إبريل مايو يونيو يوليو أغسطس اغسطس سبتمبر أكتوبر اكتوبر نوفمبر ديسمبر \
        شباط آذار نيسان أيار حزيران تموز أيلول \
        जनवरी फरवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर अक्तूबर नवंबर नवम्बर दिसंबर दिसम्बर",
    ),
    (List::Clock, "am pm utc gmt cet cest est edt cst cdt mst mdt pst pdt bst uhr"),
    (List::Calendar, "年 月 日 时 時 分 秒 年度"),
    (
        List::Weekdays,
        "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun \
        montag dienstag mittwoch donnerstag freitag samstag sonntag \
        lundi mardi mercredi jeudi vendredi samedi dimanche \
        lunes martes miércoles jueves viernes sábado domingo \
        lunedì martedì mercoledì giovedì venerdì sabato domenica \
        maandag dinsdag woensdag donderdag vrijdag zaterdag zondag \
        понедельник вторник среда четверг пятница суббота воскресенье \
        月曜 火曜 水曜 木曜 金曜 土曜 日曜 曜日 星期 期一 期二 期三 期四 期五 期六 期日 \
        월요일 화요일 수요일 목요일 금요일 토요일 일요일 \
        الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد \
        सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार",
    ),
    (List::Ago, "ago vor hace fa atrás geleden назад 前 전 منذ قبل पहले"),
    (
        List::Units,
        "minute minutes min mins hour hours hr hrs day days week weeks month months year years \
        minuten stunde stunden tag tagen tage woche wochen monat monaten monate jahr jahren jahre \
        minuto minutos hora horas día días semana semanas mes meses año años \
        minuti ora ore giorno giorni settimana settimane mese mesi anno anni \
        dia dias mês uur dag dagen weken maanden jaar \
        минут минуты минуту час часа часов день дня дней недель недели месяц месяца месяцев год года лет \
        分钟 分鐘 小时 小時 時間 분 시간 일 주 개월 \
        دقيقة دقائق ساعة ساعات يوم أيام मिनट घंटे घंटा दिन",
    ),
    (
        List::Seconds,
        "second seconds sec secs ms msec milliseconds sekunde sekunden seconde secondes segundo segundos secondi \
        seconden секунд секунды секунда сек",
    ),
    (
        List::Counters,
        "view views visitor visitors visit visits hits comments likes followers downloads online \
        aufrufe besucher kommentare zugriffe vues visiteur visiteurs visites commentaires visitas visitantes comentarios \
        visite visitatori commenti visualizações bezoekers reacties \
        просмотров посетитель посетителей посещений комментариев",
    ),
    (List::Letters, "a p m t z h st nd rd th"),
    (
        List::Updated,
        "date time updated update modified changed revised edited posted published printed generated created today now \
        clock gmt utc zuletzt geändert aktualisiert stand datum uhr uhrzeit dernière mise jour modifié publié heure \
        actualisé обновление обновлено изменено дата время опубликовано 更新 新日 日時 時刻 日付 公開",
    ),
    (
        List::Took,
        "took elapsed rendered generated loaded executed execution runtime queries parse erzeugt ladezeit produite \
        générée chargée создана 秒 生成 成時 時間",
    ),
    (List::Counted, "hit viewed counter guests users members 訪問 問者 人目 閲覧"),
    (List::Session, "session sessionid sid phpsessid jsessionid sitzung сеанс сессия セッ ッシ"),
    (
        List::Message,
        "message messageid msg msgid mid reference ref ticket request nachrichtennummer nachricht vorgang numéro \
        сообщения сообщение メッ ッセ ジ番",
    ),
    (
        List::Server,
        "server served host node backend mirror instance powered ausgeliefert servi serveur сервер サー ーバ",
    ),
];

/// The digits zero of scripts that write numbers with their own.
pub(super) const ZEROS: [char; 3] = ['٠', '۰', '०'];

/// A number in the digits that begin with this zero.
pub(super) fn in_digits(number: u32, zero: char) -> String {
    let digit =
        |digit: char| char::from_u32(u32::from(zero) + digit.to_digit(10).unwrap_or(0)).unwrap_or(zero);
    number.to_string().chars().map(digit).collect()
}
