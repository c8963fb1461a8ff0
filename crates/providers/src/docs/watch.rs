//! Changes of pages: those of their files. A section and a page by language change with the file.

use std::pin::Pin;

use async_trait::async_trait;
use futures_core::Stream;
use futures_util::{StreamExt as _, future};
use resource::{Change, Context, Error, ErrorKind, Interest, Result, Uri, Watch};

use super::Documentation;
use super::place::{is_docs_uri, split_section};

#[async_trait]
impl Watch for Documentation {
    async fn watch(
        &self,
        ctx: &Context,
        interest: Interest,
    ) -> Result<Pin<Box<dyn Stream<Item = Change> + Send>>> {
        let unsupported = || Error::new(ErrorKind::Unsupported, "changes are not watched here");
        let files = self.source.files().facets().watch.ok_or_else(unsupported)?;
        let Interest::Resource(uri) = &interest else { return files.watch(ctx, interest).await };
        if self.made_page(ctx, uri).await.is_some() {
            return Err(unsupported().about(uri));
        }
        if !is_docs_uri(uri) && split_section(uri).is_none() {
            return files.watch(ctx, interest).await;
        }
        let found = self.find(ctx, uri).await?;
        let (file, uri) = (found.file.uri.clone(), uri.clone());
        let changes = files.watch(ctx, Interest::Resource(file.clone())).await?;
        Ok(Box::pin(changes.filter_map(move |change| future::ready(renamed(change, &file, &uri)))))
    }

    fn is_shared(&self, interest: &Interest) -> bool {
        let is_by_language = matches!(interest, Interest::Resource(uri) if is_docs_uri(uri));
        !is_by_language
            && self.source.files().facets().watch.is_some_and(|files| files.is_shared(interest))
    }
}

/// The change of a file as one of the resource that is made of it.
fn renamed(change: Change, file: &Uri, own: &Uri) -> Option<Change> {
    let (change, extra) = change.into_parts();
    let change = match change {
        Change::Updated(changed) if changed == *file => Change::Updated(own.clone()),
        Change::Removed(changed) if changed == *file => Change::Removed(own.clone()),
        _ => return None,
    };
    Some(change.with_extra(extra))
}
