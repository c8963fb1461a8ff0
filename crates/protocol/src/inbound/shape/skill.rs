//! JSON encoding of skills: entries of `skills/list` and `skills/get`, and the index of skills.

use resource::{Absence, Json, MemberPlace, Skill, SkillFile, SkillFiles, SkillIndexEntry};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::json;
use serde_json::value::RawValue;

use crate::inbound::shape::unknown_members::UnknownMembersShape;
use crate::json::raw_object::{ObjectWriter, members_of};

/// The format of the index of skills.
const INDEX_SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// A skill, as results show it.
pub(crate) struct SkillShape<'a>(pub(crate) &'a Skill);

impl Serialize for SkillShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SkillMembers<'a> {
            uri: &'a str,
            frontmatter: Option<&'a RawValue>,
            resources: SkillFilesShape<'a>,
            #[serde(flatten)]
            extra: UnknownMembersShape<'a>,
        }
        let skill = self.0;
        SkillMembers {
            uri: skill.uri.as_str(),
            frontmatter: serde_json::from_str(skill.frontmatter.as_str()).ok(),
            resources: SkillFilesShape(&skill.files),
            extra: UnknownMembersShape::all(&skill.extra, MemberPlace::TopLevel),
        }
        .serialize(serializer)
    }
}

struct SkillFilesShape<'a>(&'a SkillFiles);

impl Serialize for SkillFilesShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            SkillFiles::Complete(files) => serializer.collect_seq(files.iter().map(SkillFileShape)),
            SkillFiles::Dynamic => serializer.serialize_str("dynamic"),
        }
    }
}

struct SkillFileShape<'a>(&'a SkillFile);

impl Serialize for SkillFileShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SkillFile { uri, digest, size, extra } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("uri", uri.as_str())?;
        map.serialize_entry("digest", digest)?;
        map.serialize_entry("size", size)?;
        for (name, json) in extra.members_in(MemberPlace::TopLevel) {
            if let Ok(raw) = serde_json::from_str::<&RawValue>(json) {
                map.serialize_entry(name, raw)?;
            }
        }
        map.end()
    }
}

/// The entry of an index for a skill that its server only lists.
pub(crate) fn derive_index_entry(skill: &Skill) -> Json {
    let frontmatter = members_of(skill.frontmatter.as_str());
    let digest = match &skill.files {
        SkillFiles::Complete(files) => files.iter().find(|file| file.uri == skill.uri),
        SkillFiles::Dynamic => None,
    };
    let mut out = ObjectWriter::new();
    let copy = |out: &mut ObjectWriter, wanted: &str| {
        if let Some((_, raw)) = frontmatter.iter().rfind(|(name, _)| name == wanted) {
            out.put_raw(wanted, raw.get());
        }
    };
    copy(&mut out, "name");
    out.put_string("type", "skill-md");
    copy(&mut out, "description");
    out.put_string("url", skill.uri.as_str());
    if let Some(file) = digest {
        out.put_string("digest", &file.digest);
    }
    out.finish().into()
}

/// The text of an index of these skills. It names the servers that are missing.
pub fn encode_skill_index<'a>(
    entries: impl IntoIterator<Item = &'a SkillIndexEntry>,
    absent: &[Absence],
) -> String {
    let mut rows = String::new();
    for entry in entries {
        if !rows.is_empty() {
            rows.push(',');
        }
        let mut out = ObjectWriter::new();
        for (name, raw) in members_of(entry.json.as_str()) {
            match &*name {
                "url" => out.put_string("url", &entry.url),
                _ => out.put_raw(&name, raw.get()),
            }
        }
        rows.push_str(&out.finish());
    }
    let mut index = ObjectWriter::new();
    index.put_string("$schema", INDEX_SCHEMA);
    index.put_raw("skills", &format!("[{rows}]"));
    if !absent.is_empty() {
        let gaps = absent.iter().map(|gap| json!({ "what": gap.name, "why": gap.reason }));
        let gaps: Vec<_> = gaps.collect();
        index.put_raw("_meta", &json!({ "dev.refdesk/absent": gaps }).to_string());
    }
    index.finish() + "\n"
}

#[cfg(test)]
mod tests {
    use resource::{Absence, SkillIndexEntry};

    use super::encode_skill_index;

    #[test]
    fn an_index_has_public_urls_digests_and_the_names_of_missing_servers() {
        let entry = SkillIndexEntry {
            url: "skill://notes/a/SKILL.md".to_owned(),
            json: r#"{"name":"a","url":"skill://a/SKILL.md","digest":"sha256:aa"}"#.into(),
        };
        let gap = Absence { name: "slow".to_owned(), reason: "no answer".to_owned() };
        let text = encode_skill_index([&entry, &entry], &[gap]);
        let index: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(index["skills"][1]["url"], "skill://notes/a/SKILL.md");
        assert_eq!(index["skills"][1]["digest"], "sha256:aa");
        assert_eq!(index["_meta"]["dev.refdesk/absent"][0]["what"], "slow");
        assert!(!encode_skill_index([], &[]).contains("_meta"));
    }
}
