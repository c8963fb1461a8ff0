//! Tests of number formats.

use super::NumberFormat;

fn shown(code: &str, value: f64) -> String {
    NumberFormat::parse(code).show_number(value, false)
}

#[test]
fn numbers_are_shown_as_their_cell_shows_them() {
    let cases = [
        ("General", 0.1 + 0.2, "0.3"),
        ("General", 1234.5, "1234.5"),
        ("General", -7.0, "-7"),
        ("General", 4_901_234_567_890.0, "4901234567890"),
        ("General", 1e20, "1E+20"),
        ("0", 41.5, "42"),
        ("0.00", 2.675, "2.68"),
        ("0.00", 99.999, "100.00"),
        ("#,##0", 1_234_567.0, "1,234,567"),
        ("#,##0.00", -1234.5, "-1,234.50"),
        ("0%", 0.256, "26%"),
        ("0.0%", 0.2565, "25.7%"),
        ("0.00E+00", 12345.0, "1.23E+04"),
        ("0.00E+00", 0.000_123, "1.23E-04"),
        ("##0.0E+0", 12345.0, "12.3E+3"),
        ("000-0000", 1_234_567.0, "123-4567"),
        ("000-0000", 34_567.0, "003-4567"),
        ("00000", 42.0, "00042"),
        ("0.##", 1.5, "1.5"),
        ("0.##", 1.0, "1"),
        ("#,##0,", 1_234_567.0, "1,235"),
        ("0.0,,\"M\"", 1_234_567.0, "1.2M"),
        ("# ?/?", 1.5, "1 1/2"),
        ("# ??/??", 0.333_333_333, "1/3"),
        ("0.0", -0.01, "0.0"),
    ];
    for (code, value, expected) in cases {
        assert_eq!(shown(code, value), expected, "{code} of {value}");
    }
}

#[test]
fn currencies_and_signs_come_from_the_sections() {
    assert_eq!(shown("[$¥-411]#,##0;[Red]-[$¥-411]#,##0", -1200.0), "-¥1,200");
    assert_eq!(shown("\"$\"#,##0.00_);(\"$\"#,##0.00)", -3.5), "($3.50)");
    assert_eq!(shown("\"$\"#,##0.00_);(\"$\"#,##0.00)", 3.5), "$3.50");
    assert_eq!(shown("_-* #,##0_-;-* #,##0_-;_-* \"-\"_-", 0.0), "-");
    assert_eq!(shown("#,##0\"円\"", 1500.0), "1,500円");
    assert_eq!(shown("[>=100]\"high\";[<0]\"low\";0", 150.0), "high");
    assert_eq!(shown("[>=100]\"high\";[<0]\"low\";0", 5.0), "5");
}

#[test]
fn dates_are_iso_in_any_format() {
    assert_eq!(shown("m/d/yy", 45_352.0), "2024-03-01");
    assert_eq!(shown("yyyy\"年\"m\"月\"d\"日\"", 45_352.0), "2024-03-01");
    assert_eq!(shown("[$-411]ggge\"年\"m\"月\"d\"日\"", 45_352.0), "2024-03-01");
    assert_eq!(shown("h:mm AM/PM", 0.75), "18:00:00");
    assert_eq!(shown("yyyy/m/d h:mm", 45_352.5), "2024-03-01T12:00:00");
    assert_eq!(shown("[h]:mm", 1.5), "36:00:00");
    assert_eq!(shown("mm:ss.0", 0.000_011_574), "00:00:01.000");
    assert_eq!(shown("d mmm", -4.0), "-4");
    assert!(NumberFormat::built_in(14).is_date());
    assert!(!NumberFormat::built_in(2).is_date());
}

#[test]
fn a_format_may_add_to_a_text() {
    assert_eq!(NumberFormat::parse("@\"様\"").show_text("田中").as_deref(), Some("田中様"));
    assert_eq!(NumberFormat::parse("@").show_text("田中"), None);
    assert_eq!(NumberFormat::parse("0.00").show_text("田中"), None);
}

#[test]
fn strange_formats_and_numbers_end_in_some_text() {
    let codes = [
        "", ";;;", "[", "\"", "\\", "_", "*", "E+", "0E+0", "/", "?/0", "0/0", "%%%%%%%%", "0.",
        ".0",
    ];
    for code in codes {
        for value in [0.0, -0.0, 1e308, -1e308, 5e-324, f64::NAN, f64::INFINITY, 0.5] {
            shown(code, value);
        }
    }
    shown(&"0".repeat(100_000), 1.0);
}
