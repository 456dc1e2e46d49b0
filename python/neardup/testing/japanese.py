"""Japanese, as the generated web speaks it: no spaces between words, and another full stop."""

from __future__ import annotations

from typing import Final

from neardup.testing.language import Language, Topic, vocabulary

JAPANESE: Final = Language(
    code="ja",
    space="",
    name="{last}{first}",
    topics=(
        Topic(
            "温泉",
            vocabulary("""
                温泉旅館, 露天風呂, 湯の花, 観光客, 浴衣, 足湯, 源泉, 渓谷, 紅葉, 山道, 郷土料理, 土産物,
                女将, 湯治場, 吊り橋, 案内所, 宿泊券, 朝市, 展望台, 路線バス
            """),
            vocabulary("""
                楽しませている, 支えている, 結んでいる, 温めている, 引き立てている, 囲んでいる,
                守っている, 広めている, 案内している, 彩っている
            """),
        ),
        Topic(
            "鉄道",
            vocabulary("""
                新幹線, 駅弁, 時刻表, 切符, 車掌, 踏切, 寝台列車, 私鉄, 線路, 鉄橋, 車両基地, 改札口,
                終着駅, 通勤電車, 路面電車, 模型, 信号機, 乗換案内, 待合室, 記念写真
            """),
            vocabulary("""
                運んでいる, 結んでいる, 待っている, 変えている, 支えている, 追い越している, 知らせている,
                記録している, 置き換えている, 比べている
            """),
        ),
        Topic(
            "料理",
            vocabulary("""
                味噌汁, 包丁, 出汁, 漬物, 炊飯器, 天ぷら, 醤油, 豆腐, 焼き魚, 茶碗, 和菓子, 抹茶, 野菜,
                土鍋, 調味料, 料理人, 献立, 弁当箱, 昆布, 市場
            """),
            vocabulary("""
                引き立てている, 選んでいる, 温めている, 包んでいる, 使っている, 試している, 紹介している,
                仕上げている, 比べている, 覚えている
            """),
        ),
    ),
    adjectives=vocabulary("""
                新しい, 古い, 珍しい, 美しい, 小さな, 大きな, 有名な, 静かな, 便利な, 懐かしい, 丈夫な,
                手頃な, 伝統的な, 素朴な, 見事な, 地元の, 人気の, 昔ながらの, 冬の, 手作りの
            """),
    places=vocabulary("""
                京都で, 箱根で, 駅の近くで, 北海道で, 川沿いで, 金沢で, 城下町で, 島の南で, 東北地方で,
                商店街で, 山の麓で, 長崎で
            """),
    times=vocabulary("""
                昨年から, 毎年秋に, 初めて, 平日に, 五月まで, 昔から, 週に二度, 朝早く, 夏の間, 改装後に,
                今でも, 例外なく
            """),
    people=vocabulary("太郎, 花子, 健一, 美咲, 直樹, 由美, 誠, 恵子, 翔太, 和子, 浩, 真由"),
    families=vocabulary("佐藤, 鈴木, 高橋, 田中, 渡辺, 伊藤, 山本, 中村, 小林, 加藤, 吉田, 松本"),
    sentences=(
        "{adjective}{noun}は{place}{adjective}{noun}を{verb}。",
        "{time}{noun}が{adjective}{noun}を{verb}。",
        "{person}さんによると、{noun}は{time}{noun}を{verb}そうだ。",
        "{company}社の{adjective}{noun}は{place}{noun}と{noun}を{verb}。",
        "{place}{number}の{noun}が{adjective}{noun}を{verb}。",
        "なぜ{adjective}{noun}は{noun}を{verb}のだろうか。",
        "{noun}と{adjective}{noun}は{time}{place}{noun}を{verb}。",
        "{person}さんと{person}さんは{adjective}{noun}について{place}語った。",
        "{adjective}{noun}であれば、{noun}を{time}{verb}。",
    ),
    headlines=(
        "{adjective}{noun}と{adjective}{noun}",
        "{person}さんと歩く{adjective}{noun}",
        "{company}社の{noun}と{adjective}{noun}",
        "{noun}はなぜ{noun}を{verb}のか",
        "{number}の{adjective}{noun}",
    ),
    boilerplate=(
        "当サイトに掲載されている文章や画像の無断転載を禁じます。",
        "リンク先のサイトの内容について、当方は一切の責任を負いません。",
        "価格はすべて消費税込みの表示で、送料は別途かかります。",
        "ご利用の前に利用規約と個人情報の取り扱いについてお読みください。",
        "掲載内容には注意を払っていますが、正確さを保証するものではありません。",
        "お問い合わせは電子メールまたは電話で受け付けております。",
        "午前中のご注文は当日中に発送いたします。",
        "記事の内容は執筆者の意見であり、編集部の見解とは限りません。",
    ),
    words={
        "home": "ホーム",
        "products": "商品一覧",
        "news": "お知らせ",
        "forum": "掲示板",
        "contact": "お問い合わせ",
        "about": "会社案内",
        "search": "検索",
        "help": "ヘルプ",
        "terms": "利用規約",
        "links": "リンク集",
        "archive": "過去の記事",
        "events": "催し",
        "gallery": "写真館",
        "newsletter": "メールマガジン",
        "directory": "名簿",
        "privacy": "個人情報保護",
        "jobs": "採用情報",
        "press": "報道資料",
        "time_stamp": "最終更新日:{}",
        "visitor_count": "あなたは{}人目の訪問者です",
        "execution_time": "ページ生成時間:{}秒",
        "session_id": "セッション:{}",
        "message_id": "メッセージ番号:{}",
        "server_name": "サーバー:{}",
        "url": "このページのアドレス: {}",
        "advertisement": "広告",
        "box": "短信",
        "see_also": "関連項目",
        "price": "価格",
        "order": "注文番号",
        "basket": "買い物かごに入れる",
        "stock": "在庫:{}",
        "phone": "電話番号",
        "street": "住所",
        "opening": "営業時間",
        "hours": "月曜から金曜、9時から17時",
        "record": "記録",
        "sequence": "配列",
        "reference": "参考文献",
        "source": "出典",
        "posted": "{}さんの投稿({})",
        "reply": "返信",
        "release": "報道関係各位",
        "press_contact": "報道担当:{}",
        "sale": "ドメイン {} を販売しています",
        "make_offer": "今すぐ {} にお申し込みください",
        "sponsored": "スポンサーリンク",
        "welcome": "{}へようこそ",
        "enter": "入口はこちら",
        "adults": "画面が切り替わらない場合は、下の画像を押してください。",
        "inquiry": "お問い合わせ用紙",
        "your_name": "お名前",
        "your_message": "お問い合わせ内容",
        "send": "送信",
        "clear": "消去",
        "interest": "{}に興味がありますので、資料を送ってください。",
        "list": "全品一覧",
        "sort": "{}順",
        "by_name": "名前",
        "by_price": "価格",
        "by_date": "日付",
        "log_in": "続きを読むにはログインしてください。",
        "user": "利用者名",
        "password": "暗証番号",
        "moved": "このページは移転しました。数秒後に新しいアドレスへ移動します。",
        "written_by": "文:{}",
        "items": "品名",
        "value": "値",
    },
)
