//! Symbol fonts: their characters as Unicode. A file stores such a character as a code of the font, so without this table a check mark
//! is a letter, or a code of the private use area.

/// The character of each code of a font, from 0x21 on, as the Unicode Consortium maps them; a space where a font has none. Boxes and arrows are the
/// plain ones that people type and search, not their variants by weight.
const FONTS: [(&str, &str); 5] = [
    (
        "symbol",
        "!∀#∃%&∍()*+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλµνοπθρστυϖωξψζ{|}~                                 €ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
    ),
    (
        "webdings",
        "🕷🕸🕲🕶🏆🎖🖇🗨🗩🗰🗱🌶🎗🙾🙼🗕🗖🗗⏴⏵⏶⏷⏪⏩⏮⏭⏸⏹⏺🗚🗳🛠🏗🏘🏙🏚🏜🏭🏛🏠🏖🏝🛣🔍🏔👁👂🏞🏕🛤🏟🛳🕬🕫🕨🔈🎔🎕🗬🙽🗭🗪🗫⮔✔🚲⬜🛡📦🛱⬛🚑🛈🛩🛰🟈🕴⬤🛥🚔🗘🗙❓🛲🚇🚍⛳⦸⊖🚭🗮⏐🗯🗲 🚹🚺🛉🛊🚼👽🏋⛷🏂🏌🏊🏄🏍🏎🚘🗠🛢💰🏷💳👪🗡🗢🗣✯🖄🖅🖃🖆🖹🖺🖻🕵🕰🖽🖾📋🗒🗓🕮📚🗞🗟🗃🗂🖼🎭🎜🎘🎙🎧💿🎞📷🎟🎬📽📹📾📻🎚🎛📺💻🖥🖦🖧🕹🎮🕻🕼📟🖁🖀🖨🖩🖿🖪🗜🔒🔓🗝📥📤🕳🌣🌤🌥🌦☁🌨🌧🌩🌪🌬🌫🌜🌡🛋🛏🍽🍸🛎🛍Ⓟ♿🛆🖈🎓🗤🗥🗦🗧🛪🐿🐦🐟🐕🐈🙬🙮🙭🙯🗺🌍🌏🌎🕊",
    ),
    (
        "wingdings",
        "🖉✂✁👓🕭🕮🕯🕿✆🖂🖃📪📫📬📭🗀🗁🗎🗏🗐🗄⌛🖮🖰🖲🖳🖴🖫🖬✇✍🖎✌🖏👍👎☜☞☝☟🖐☺😐☹💣🕱🏳🏱✈☼🌢❄🕆✞🕈✠✡☪☯🕉☸♈♉♊♋♌♍♎♏♐♑♒♓🙰🙵⚫🔾◼☐🞐❑❒🞟⧫◆❖⬩☒⮹⌘🏵🏶🙶🙷▯🄋➀➁➂➃➄➅➆➇➈➉🄌➊➋➌➍➎➏➐➑➒➓🙢🙠🙡🙣🙞🙜🙝🙟∙•⬝⭘🞆🞈🞊🞋🔿▪☐🟁🟅★🟋🟏🟓🟑⯐⌖⯎⯏⯑✪✰🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛⮰⮱⮲⮳⮴⮵⮶⮷🙪🙫🙕🙔🙗🙖🙐🙑🙒🙓⌫⌦⮘⮚⮙⮛⮈⮊⮉⮋←→↑↓🡬🡭🡯🡮←→↑↓🡼🡽🡿🡾⇦⇨⇧⇩⬄⇳⬁⬀⬃⬂🢬🢭✗✓☒☑",
    ),
    (
        "wingdings 2",
        "🖊🖋🖌🖍✄✀🕾🕽🗅🗆🗇🗈🗉🗊🗋🗌🗍📋🗑🗔🖵🖶🖷🖸🖭🖯🖱🖒🖓🖘🖙🖚🖛👈👉🖜🖝🖞🖟🖠🖡👆👇🖢🖣🖑✗✓☒☑☒☒⮾⮿🛇⦸🙱🙴🙲🙳‽🙹🙺🙻🙦🙤🙥🙧🙚🙘🙙🙛⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿ ☉🌕☽☾⸿✝🕇🕜🕝🕞🕟🕠🕡🕢🕣🕤🕥🕦🕧🙨🙩⋅🞄⦁●○🞅🞇🞉⊙⦿🞌🞍◾■☐🞑🞒🞓🞔▣🞕🞖🞗🞘⬩⬥◇🞚◈🞛🞜🞝🞞⬪⬧◊🞠◖◗⯊⯋⯀⯁⬟⯂⬣⬢⯃⯄🞡🞢🞣🞤🞥🞦🞧🞨🞩🞪🞫🞬🞭🞮🞯🞰🞱🞲🞳🞴🞵🞶🞷🞸🞹🞺🞻🞼🞽🞾🞿🟀🟂🟄🟆🟉🟊✶🟌🟎🟐🟒✹🟃🟇✯🟍🟔⯌⯍※⁂",
    ),
    (
        "wingdings 3",
        "⭠⭢⭡⭣⭦⭧⭩⭨⭰⭲⭱⭳⭶⭸⭻⭽⭤⭥⭪⭬⭫⭭⭍⮠⮡⮢⮣⮤⮥⮦⮧⮐⮑⮒⮓⮀⮃⭾⭿⮄⮆⮅⮇⮏⮍⮎⮌⭮⭯⎋⌤⌃⌥␣⍽⇪⮸🢠🢡🢢🢣🢤🢥🢦🢧🢨🢩🢪🢫🡐🡒🡑🡓🡔🡕🡗🡖🡘🡙▲▼△▽◀▶◁▷◣◢◤◥🞀🞂🞁 🞃⯅⯆⯇⯈⮜⮞⮝⮟🠐🠒🠑🠓🠔🠖🠕🠗🠘🠚🠙🠛🠜🠞🠝🠟🠀🠂🠁🠃🠄🠆🠅🠇🠈🠊🠉🠋🠠🠢🠤🠦🠨🠪🠬🢜🢝🢞🢟🠮🠰🠲🠴🠶🠸🠺🠹🠻🢘🢚🢙🢛🠼🠾🠽🠿🡀🡂🡁🡃🡄🡆🡅🡇⮨⮩⮪⮫⮬⮭⮮⮯🡠🡢🡡🡣🡤🡥🡧🡦🡰🡲🡱🡳🡴🡵🡷🡶🢀🢂🢁🢃🢄🢅🢇🢆🢐🢒🢑🢓🢔🢖🢕🢗",
    ),
];

/// Whether the font's letters are symbols.
#[must_use]
pub fn is_symbol_font(font: &str) -> bool {
    table(font).is_some()
}

fn table(font: &str) -> Option<&'static str> {
    FONTS.iter().find(|(name, _)| name.eq_ignore_ascii_case(font.trim())).map(|(_, table)| *table)
}

/// The character of a code in a font: `F0B0` of Symbol is `°`. A code that is no letter of a symbol font is its own character. `None` if it
/// is not known which character it shows.
///
/// ```ignore
/// assert_eq!(symbol("Wingdings", 0xf0fe), Some('☑'));
/// ```
#[must_use]
pub fn symbol(font: &str, code: u32) -> Option<char> {
    let private = (0xf000..=0xf0ff).contains(&code);
    let low = if private { code - 0xf000 } else { code };
    match table(font) {
        Some(_) if low == 0x20 => Some(' '),
        Some(table) if (0x21..=0xff).contains(&low) => {
            table.chars().nth(usize::try_from(low - 0x21).ok()?).filter(|one| *one != ' ')
        }
        _ => char::from_u32(code).filter(|one| !is_private(*one)),
    }
}

/// The text of a symbol font's letters.
#[must_use]
pub fn symbols(font: &str, text: &str) -> String {
    text.chars().map(|one| symbol(font, one.into()).map_or_else(|| unknown(one.into(), font), String::from)).collect()
}

/// What stands for a symbol that is not known.
#[must_use]
pub fn unknown(code: u32, font: &str) -> String {
    let of = if font.is_empty() { String::new() } else { format!(" of {font}") };
    format!("[symbol {code:04X}{of}]")
}

/// Whether the meaning of the character is its font's own.
#[must_use]
pub fn is_private(one: char) -> bool {
    ('\u{e000}'..='\u{f8ff}').contains(&one)
}

/// Whether the sign of a list says something about its entry: a box or a check mark.
#[must_use]
pub fn is_box(one: char) -> bool {
    "☐☑☒✓✔✗✘✕✖□❏❐❑❒".contains(one)
}

/// Digits and signs that are raised, as the characters for this: `10⁻⁶`. `None` if there is none for a character of it, or if it is a number
/// of its own, such as a year: people search for its digits.
#[must_use]
pub fn superscript(text: &str) -> Option<String> {
    const PLAIN: &str = "0123456789+-−=()ni";
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ";
    if text.chars().filter(char::is_ascii_digit).count() > 3 {
        return None;
    }
    let raised = |one: char| PLAIN.chars().position(|plain| plain == one).and_then(|at| RAISED.chars().nth(at));
    text.chars().map(raised).collect()
}
