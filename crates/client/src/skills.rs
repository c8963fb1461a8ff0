//! Typed requests for skills (skills extension): list and get.

use protocol::outbound::decode::DecodedPage;
use protocol::outbound::decode::skill::{skill_page, skill_result};
use protocol::outbound::request::methods;
use resource::{Freshness, Skill, Uri};

use crate::client::Client;
use crate::error::Error;

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
