//! Decoding of an upstream server's skills: entries of `skills/list`, `skills/get` and its index.

use resource::{
    Freshness, Json, MemberPlace, Skill, SkillFile, SkillFiles, SkillIndexEntry, UnknownMembers,
    Uri,
};
use serde_json::value::RawValue;

use super::{DecodedPage, DecodedResult, MAX_ENTRY_BYTES};
use crate::inbound::shape::skill::derive_index_entry;
use crate::json::raw_object::{members_of, parse_elements, parse_string};
use crate::json::sanitize::{mend_json, sanitize_json};
use crate::outbound::response::MalformedMessage;

/// Decodes a page of skills. Entries that no host may load are skipped.
pub fn skill_page(result: &RawValue) -> Result<DecodedPage<Skill>, MalformedMessage> {
    let mut told = DecodedResult::parse_complete(result)?;
    let entries =
        told.skills.take().ok_or_else(|| MalformedMessage::new("the result has no skills"))?;
    let take = |raw: &RawValue| Some((decode_skill(raw)?, false));
    told.into_page(&entries, take, |skill| skill.uri.clone())
}

/// Decodes one skill.
pub fn skill_result(result: &RawValue) -> Result<(Skill, Freshness), MalformedMessage> {
    let told = DecodedResult::parse_complete(result)?;
    let skill = told.skill.filter(|raw| raw.get().len() <= MAX_ENTRY_BYTES).and_then(decode_skill);
    let skill = skill.ok_or_else(|| MalformedMessage::new("the result has no valid skill"))?;
    Ok((skill, told.freshness()))
}

/// An entry must have a URI, the frontmatter with a name and a description, and all files or the
/// word `dynamic`.
fn decode_skill(raw: &RawValue) -> Option<Skill> {
    let (mut uri, mut frontmatter, mut files) = (None, None, None);
    let mut extra = UnknownMembers::default();
    for (name, raw) in members_of(raw.get()) {
        match &*name {
            "uri" => uri = Uri::parse(&parse_string(raw)?).ok(),
            "frontmatter" => frontmatter = Some(decode_frontmatter(raw)?),
            "resources" => files = Some(decode_files(raw)?),
            _ => extra.set(MemberPlace::TopLevel, name, sanitize_json(raw.get())),
        }
    }
    Some(Skill { uri: uri?, frontmatter: frontmatter?, files: files?, extra })
}

fn decode_frontmatter(raw: &RawValue) -> Option<Json> {
    // Hosts compare it with the file, so that a changed one is of no use.
    let text = mend_json(raw.get())?;
    let members = members_of(&text);
    let is_text = |wanted: &str| {
        members.iter().any(|(name, raw)| name == wanted && raw.get().starts_with('"'))
    };
    (is_text("name") && is_text("description")).then(|| text.as_ref().into())
}

fn decode_files(raw: &RawValue) -> Option<SkillFiles> {
    if raw.get().starts_with('[') {
        let files = parse_elements(raw).into_iter().map(decode_file);
        return files.collect::<Option<_>>().map(SkillFiles::Complete);
    }
    (parse_string(raw)? == "dynamic").then_some(SkillFiles::Dynamic)
}

fn decode_file(raw: &RawValue) -> Option<SkillFile> {
    let (mut uri, mut digest, mut size) = (None, None, None);
    let mut extra = UnknownMembers::default();
    for (name, raw) in members_of(raw.get()) {
        match &*name {
            "uri" => uri = Uri::parse(&parse_string(raw)?).ok(),
            "digest" => digest = Some(parse_string(raw)?.into_owned()),
            "size" => size = serde_json::from_str(raw.get()).ok(),
            _ => extra.set(MemberPlace::TopLevel, name, sanitize_json(raw.get())),
        }
    }
    Some(SkillFile { uri: uri?, digest: digest?, size: size?, extra })
}

/// Decodes the first `limit` entries of an index of skills, and whether it has more; `None` if it
/// is no index. Entries without a URL are skipped.
pub fn skill_index(text: &str, limit: usize) -> Option<(Vec<SkillIndexEntry>, bool)> {
    let members = members_of(text);
    let (_, skills) = members.iter().rfind(|(name, _)| name == "skills")?;
    let entry = |raw: &RawValue| {
        let json = mend_json(raw.get()).filter(|json| json.len() <= MAX_ENTRY_BYTES)?;
        let url = members_of(&json)
            .iter()
            .rfind(|(name, _)| name == "url")
            .and_then(|(_, raw)| parse_string(raw))?
            .into_owned();
        Some(SkillIndexEntry { url, json: json.as_ref().into() })
    };
    let mut entries = parse_elements(skills).into_iter().filter_map(entry);
    let first = entries.by_ref().take(limit).collect();
    Some((first, entries.next().is_some()))
}

/// The entry of an index for a skill that its server only lists.
pub fn index_entry_of(skill: &Skill) -> SkillIndexEntry {
    SkillIndexEntry { url: skill.uri.as_str().to_owned(), json: derive_index_entry(skill) }
}

#[cfg(test)]
mod tests {
    use resource::{Json, SkillFiles};
    use serde_json::value::RawValue;

    use super::{index_entry_of, skill_index, skill_page, skill_result};

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    const PDF: &str = r#"{"uri":"skill://pdf/SKILL.md",
        "frontmatter":{"name":"pdf","description":"Fill forms","metadata":{"version":"2.10"}},
        "resources":[{"uri":"skill://pdf/SKILL.md","digest":"sha256:aa","size":12,"x":1},
                     {"uri":"skill://pdf/a/b.md","digest":"sha256:bb","size":3}],"y":{"z":[1]}}"#;

    #[test]
    fn a_skill_keeps_its_frontmatter_digests_sizes_and_what_we_do_not_know() {
        let result = format!(r#"{{"skills":[{PDF}],"nextCursor":"n","ttlMs":5000}}"#);
        let page = skill_page(&raw(&result)).unwrap();
        assert_eq!((page.next.as_deref(), page.freshness.ttl.as_secs()), (Some("n"), 5));
        let skill = &page.items[0];
        assert!(skill.frontmatter.as_str().contains(r#""version":"2.10""#));
        let SkillFiles::Complete(files) = &skill.files else { panic!("{skill:?}") };
        assert_eq!((files[1].digest.as_str(), files[1].size), ("sha256:bb", 3));
        assert!(!files[0].extra.is_empty() && !skill.extra.is_empty());
        let (same, _) = skill_result(&raw(&format!(r#"{{"skill":{PDF}}}"#))).unwrap();
        assert_eq!(same, *skill);
    }

    #[test]
    fn entries_that_no_host_may_load_are_skipped() {
        let frontmatter = r#""frontmatter":{"name":"a","description":"b"}"#;
        for entry in [
            "1".to_owned(),
            format!(r#"{{"uri":"skill://a/SKILL.md",{frontmatter}}}"#),
            format!(r#"{{"uri":"skill://a/SKILL.md",{frontmatter},"resources":"static"}}"#),
            format!(
                r#"{{"uri":"skill://a/SKILL.md",{frontmatter},"resources":[{{"uri":"a:b"}}]}}"#
            ),
            format!(r#"{{"uri":"no uri",{frontmatter},"resources":"dynamic"}}"#),
            r#"{"uri":"a:b","frontmatter":{"name":"a"},"resources":"dynamic"}"#.to_owned(),
            r#"{"uri":"a:b","resources":"dynamic"}"#.to_owned(),
        ] {
            let page = skill_page(&raw(&format!(r#"{{"skills":[{entry}]}}"#))).unwrap();
            assert_eq!((page.items.len(), page.skipped), (0, 1), "{entry}");
            skill_result(&raw(&format!(r#"{{"skill":{entry}}}"#))).unwrap_err();
        }
        skill_page(&raw("{}")).unwrap_err();
        let dynamic =
            format!(r#"{{"uri":"skill://a/SKILL.md",{frontmatter},"resources":"dynamic"}}"#);
        let page = skill_page(&raw(&format!(r#"{{"skills":[{dynamic}]}}"#))).unwrap();
        assert_eq!(page.items[0].files, SkillFiles::Dynamic);
    }

    #[test]
    fn an_index_is_read_up_to_a_limit_and_a_listed_skill_has_an_entry() {
        let text = r#"{"skills":[{"name":"a","url":"skill://a/SKILL.md","digest":"sha256:aa"},7,
            {"name":"no url"},{"url":"skill://{x}/SKILL.md"},{"url":"c:d"}]}"#;
        let (entries, has_more) = skill_index(text, 2).unwrap();
        assert_eq!(entries[1].url, "skill://{x}/SKILL.md");
        assert!(has_more && entries[0].json.as_str().contains("sha256:aa"));
        assert!(!skill_index(text, 3).unwrap().1);
        for text in ["", "[]", "{}", "{"] {
            assert_eq!(skill_index(text, 9), None, "{text}");
        }
        let (skill, _) = skill_result(&raw(&format!(r#"{{"skill":{PDF}}}"#))).unwrap();
        let expected = r#"{"name":"pdf","type":"skill-md","description":"Fill forms","url":"skill://pdf/SKILL.md","digest":"sha256:aa"}"#;
        assert_eq!(index_entry_of(&skill).json, Json::from(expected));
    }
}
