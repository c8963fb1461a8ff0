//! Number formats of lists: letters, Roman and Japanese numerals.

/// The highest number that has more than decimal digits.
const MAX_NUMBER: u32 = 3_999;

const AIUEO: &str =
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン";
const IROHA: &str = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン";

/// A number as a list shows it; `format` is a name of Office, such as `lowerRoman`.
pub(crate) fn format_number(number: u32, format: &str) -> String {
    let decimal = || number.to_string();
    match format {
        "decimalZero" => return format!("{number:02}"),
        _ if number == 0 || number > MAX_NUMBER => return decimal(),
        _ => {}
    }
    match format {
        "lowerLetter" => letters(number, 'a'),
        "upperLetter" => letters(number, 'A'),
        "lowerRoman" => roman(number).to_lowercase(),
        "upperRoman" => roman(number),
        "decimalFullWidth" | "decimalFullWidth2" => full_width(number),
        "aiueo" | "aiueoFullWidth" => nth(AIUEO, number).unwrap_or_else(decimal),
        "iroha" | "irohaFullWidth" => nth(IROHA, number).unwrap_or_else(decimal),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => {
            let circle = (number <= 20).then(|| char::from_u32(0x245F + number)).flatten();
            circle.map_or_else(decimal, String::from)
        }
        "japaneseCounting"
        | "chineseCounting"
        | "chineseCountingThousand"
        | "taiwaneseCounting"
        | "koreanCounting"
        | "taiwaneseCountingThousand"
        | "japaneseLegal" => kanji(number),
        "ideographDigital" | "japaneseDigitalTenThousand" => {
            let digits = decimal();
            digits.bytes().filter_map(|digit| nth(DIGITS, u32::from(digit - b'0') + 1)).collect()
        }
        "ideographTraditional" => nth("甲乙丙丁戊己庚辛壬癸", number).unwrap_or_else(decimal),
        "ideographZodiac" => nth("子丑寅卯辰巳午未申酉戌亥", number).unwrap_or_else(decimal),
        _ => decimal(),
    }
}

const DIGITS: &str = "〇一二三四五六七八九";

fn nth(letters: &str, number: u32) -> Option<String> {
    letters.chars().nth(number as usize - 1).map(String::from)
}

/// a to z, then aa to zz, as Word counts.
fn letters(number: u32, first: char) -> String {
    let letter = char::from_u32(first as u32 + (number - 1) % 26).unwrap_or(first);
    String::from(letter).repeat(((number - 1) / 26 + 1) as usize)
}

fn full_width(number: u32) -> String {
    number
        .to_string()
        .bytes()
        .filter_map(|digit| nth("０１２３４５６７８９", u32::from(digit - b'0') + 1))
        .collect()
}

fn roman(mut number: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while number >= value {
            text.push_str(sign);
            number -= value;
        }
    }
    text
}

fn kanji(number: u32) -> String {
    let mut text = String::new();
    for (value, sign) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
        let digit = number / value % 10;
        if digit > 1 || (digit == 1 && value == 1) {
            text.push_str(&nth(DIGITS, digit + 1).unwrap_or_default());
        }
        if digit > 0 {
            text.push_str(sign);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::format_number;

    #[test]
    fn numbers_are_written_as_the_list_shows_them() {
        let shown = [
            (27, "lowerLetter"),
            (1994, "upperRoman"),
            (12, "decimalFullWidth"),
            (3, "aiueoFullWidth"),
            (2, "iroha"),
            (2, "decimalEnclosedCircle"),
            (123, "japaneseCounting"),
            (10, "ideographDigital"),
            (7, "unknown"),
            (4_000_000_000, "lowerLetter"),
        ]
        .map(|(number, format)| format_number(number, format));
        let wanted =
            ["aa", "MCMXCIV", "１２", "ウ", "ロ", "②", "百二十三", "一〇", "7", "4000000000"];
        assert_eq!(shown, wanted);
    }
}
