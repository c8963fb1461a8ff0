//! `dev.refdesk/baskets/*`: saves and removes collections that a person put together.

use protocol::Reply;
use resource::{Context, Error, ErrorKind, Result, Uri};

use crate::baskets::{Basket, BasketRegistry};
use crate::server::Server;

/// Saves a basket in the place of one with its name.
pub(crate) async fn save_basket(
    server: &Server,
    ctx: &Context,
    (name, title, uris): (&str, Option<&str>, Vec<Uri>),
) -> Result<Reply> {
    let baskets = require_baskets(server)?;
    let basket = Basket::new(name, title, uris)?;
    Ok(Reply::Basket(baskets.save(ctx, basket).await?))
}

/// Removes a basket.
pub(crate) async fn remove_basket(server: &Server, ctx: &Context, name: &str) -> Result<Reply> {
    require_baskets(server)?.remove(ctx, name).await?;
    Ok(Reply::Empty)
}

fn require_baskets(server: &Server) -> Result<&BasketRegistry> {
    let nothing = || Error::new(ErrorKind::Unsupported, "this server keeps no baskets");
    server.baskets.as_deref().ok_or_else(nothing)
}
