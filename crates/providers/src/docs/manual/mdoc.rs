//! Macros of mdoc, the manual pages of BSD: words with their meaning, several in a line.

use super::escapes::split_arguments;
use super::render::ManualWriter;

/// Writes a macro of mdoc; false if it is none.
pub(super) fn take_macro(writer: &mut ManualWriter, name: &str, rest: &str) -> bool {
    let words = || words_of(&split_arguments(rest));
    match name {
        "Sh" => writer.push_heading(2, &split_arguments(rest).join(" ")),
        "Ss" => writer.push_heading(3, &split_arguments(rest).join(" ")),
        "Pp" => writer.end_paragraph(),
        "Bd" => writer.begin_literal(),
        "Ed" => writer.end_literal(),
        "El" => writer.end_paragraph(),
        "It" => match words() {
            tag if tag.is_empty() => writer.begin_item("•"),
            tag => writer.begin_item(&tag),
        },
        "Nd" => writer.push_text(&format!("— {}", words())),
        "D1" | "Dl" => {
            writer.begin_literal();
            writer.push_text(&words());
            writer.end_literal();
        }
        "Dd" | "Dt" | "Os" | "Bl" | "Bk" | "Ek" | "Rs" | "Re" | "Sm" | "\\\"" => {}
        name if is_word_macro(name) => {
            let mut all = vec![name.to_owned()];
            all.extend(split_arguments(rest));
            writer.push_text(&words_of(&all));
        }
        _ => return false,
    }
    true
}

fn is_word_macro(name: &str) -> bool {
    const NAMES: &str = "Ad An Ao Ap Aq Ar Bo Bq Brq Bx Cd Cm Dq Dv Em En Er Ev Fa Fd Fl Fn Fo Ft Fx \
        Ic In Lb Li Lk Lp Ms Mt Nm No Ns Nx Oc Oo Op Ox Pa Pc Pf Po Pq Qc Ql Qo Qq So Sq St Sx Sy Tn \
        Ux Va Vt Xr";
    name.len() <= 3 && NAMES.split_ascii_whitespace().any(|known| known == name)
}

/// The text of words and the macros among them.
fn words_of(words: &[String]) -> String {
    let mut text = String::new();
    let mut closers: Vec<&str> = Vec::new();
    let (mut is_glued, mut prefix) = (false, "");
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let (open, close) = match word.as_str() {
            "Op" | "Bq" | "Oo" | "Bo" => ("[", "]"),
            "Pq" | "Po" => ("(", ")"),
            "Aq" | "Ao" => ("<", ">"),
            "Brq" => ("{", "}"),
            "Dq" | "Qq" | "Qo" => ("\"", "\""),
            "Sq" | "Ql" | "So" => ("'", "'"),
            "Oc" | "Pc" | "Qc" => {
                if let Some(close) = closers.pop() {
                    text.push_str(close);
                }
                continue;
            }
            "Ns" | "Ap" => {
                is_glued = true;
                continue;
            }
            "Fl" => {
                // Alone it is the dash itself.
                match words.get(at).filter(|next| !is_word_macro(next) && next.as_str() != "|") {
                    Some(_) => prefix = "-",
                    None => push_word(&mut text, "-", &mut is_glued),
                }
                continue;
            }
            "Xr" if words.len() >= at + 2 => {
                let page = format!("{}({})", words[at], words[at + 1]);
                push_word(&mut text, &page, &mut is_glued);
                at += 2;
                continue;
            }
            "Ux" => {
                push_word(&mut text, "UNIX", &mut is_glued);
                continue;
            }
            word if is_word_macro(word) => continue,
            word => {
                let is_punctuation =
                    word.len() == 1 && word.starts_with([',', '.', ';', ':', ')', ']', '?', '!']);
                is_glued |= is_punctuation;
                push_word(&mut text, &format!("{prefix}{word}"), &mut is_glued);
                prefix = "";
                continue;
            }
        };
        push_word(&mut text, open, &mut is_glued);
        is_glued = true;
        closers.push(close);
    }
    text.extend(closers.into_iter().rev());
    text
}

fn push_word(text: &mut String, word: &str, is_glued: &mut bool) {
    if !text.is_empty() && !*is_glued {
        text.push(' ');
    }
    text.push_str(word);
    *is_glued = false;
}
