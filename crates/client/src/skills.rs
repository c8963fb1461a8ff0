//! Typed requests for skills (skills extension): list, get, and entries of an index.

use protocol::outbound::decode::DecodedPage;
use protocol::outbound::decode::skill::{index_entry_of, skill_index, skill_page, skill_result};
use protocol::outbound::request::methods;
use resource::{Freshness, Skill, SkillIndexEntry, Uri};

use crate::client::Client;
use crate::error::Error;

/// The first `limit` entries of an index of skills, and whether it has more; `None` if the text is
/// no index.
pub fn decode_skill_index(text: &str, limit: usize) -> Option<(Vec<SkillIndexEntry>, bool)> {
    skill_index(text, limit)
}

/// The entry of an index for a skill that its server only lists.
pub fn derive_index_entry(skill: &Skill) -> SkillIndexEntry {
    index_entry_of(skill)
}

impl Client {
    /// One page of skills, as the server cuts its list.
    pub async fn skills(&self, from: Option<&str>) -> Result<DecodedPage<Skill>, Error> {
        let request = self.resource_request(methods::LIST_SKILLS).at_cursor(from)?;
        Ok(skill_page(&self.send_request(&request).await?)?)
    }

    /// The skill whose `SKILL.md` is `uri`.
    pub async fn skill(&self, uri: &Uri) -> Result<(Skill, Freshness), Error> {
        let request = self.resource_request(methods::GET_SKILL).uri(uri.as_str());
        Ok(skill_result(&self.send_request(&request).await?)?)
    }
}
