//! Merged search: the hits of every mount that can search, mount by mount.

use std::sync::Arc;

use async_trait::async_trait;
use resource::{
    Context, Error, ErrorKind, Freshness, Page, PageRequest, Result, Search, SearchHit,
    SearchRequest,
};

use crate::catalog::{Catalog, MountList, is_claimed_by_other};
use crate::merge;
use crate::mount::Mount;

impl Mount {
    pub(crate) fn search(&self) -> Option<&dyn Search> {
        self.provider.facets().search
    }

    /// One page of the mount's hits, under public URIs. A hit whose URI is not the mount's is left
    /// out.
    async fn search_public(
        &self,
        ctx: &Context,
        mounts: &MountList,
        query: &str,
        paging: &PageRequest,
    ) -> Result<Page<SearchHit>> {
        let Some(search) = self.search() else { return Ok(Page::empty()) };
        let PageRequest { cursor, limit, filter } = self.local_paging(paging);
        let request = SearchRequest { query: query.to_owned(), filter, cursor, limit };
        let mut page = search.search(ctx, &request).await?;
        page.items.to_mut().retain_mut(|hit| {
            let public = self.address.join(&hit.uri).ok();
            let public = public.filter(|_| !is_claimed_by_other(mounts, self, &hit.uri));
            let is_own = public.is_some();
            if let Some(uri) = public {
                Arc::make_mut(hit).uri = uri;
            }
            is_own
        });
        Ok(page)
    }
}

#[async_trait]
impl Search for Catalog {
    /// Scores of different sources cannot be compared, so hits keep the order of the mounts.
    async fn search(&self, ctx: &Context, request: &SearchRequest) -> Result<Page<SearchHit>> {
        let SearchRequest { query, filter, cursor, limit } = request;
        let paging = PageRequest::new(cursor.clone(), *limit).with_filter(filter.clone());
        let mounts = self.mounts_for(ctx);
        let asked = mounts.iter().map(|mount| &**mount);
        let asked = asked
            .filter(|mount| mount.listed && mount.search().is_some() && mount.may_match(&paging));
        let all = &mounts;
        let search = |mount, paging: PageRequest| async move {
            Mount::search_public(mount, ctx, all, query, &paging).await
        };
        let page = merge::merge_pages(asked, &paging, search).await?;
        Ok(Page { freshness: Freshness::default(), ..page })
    }
}

pub(crate) fn search_unsupported() -> Error {
    Error::new(ErrorKind::Unsupported, "the source cannot search")
}
