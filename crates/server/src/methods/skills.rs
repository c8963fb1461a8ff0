//! `skills/*`: the skills of upstream servers (skills extension).

use protocol::Reply;
use resource::{Context, Page, Result, Skill, Uri};

use super::resources::{page_request, seal_page};
use crate::server::Server;

/// The list name that the cursors of the skill list are bound to.
const SKILLS: &str = "skills";

/// Lists one page of skills.
pub(crate) async fn list_skills(
    server: &Server,
    ctx: &Context,
    cursor: Option<String>,
) -> Result<Reply> {
    let ask = page_request(server, ctx, SKILLS, cursor)?;
    let page = match server.provider.facets().skills {
        Some(skills) => skills.list_skills(ctx, &ask).await?,
        None => Page::empty(),
    };
    Ok(Reply::Skills(seal_page(server, ctx, SKILLS, page)))
}

/// Returns the skill whose `SKILL.md` is `uri`.
pub(crate) async fn get_skill(server: &Server, ctx: &Context, uri: &Uri) -> Result<Reply> {
    let skills = server.provider.facets().skills.ok_or_else(|| Skill::unknown(uri))?;
    let (skill, freshness) = skills.get_skill(ctx, uri).await?;
    Ok(Reply::Skill(skill, freshness))
}
