//! Contract: skills are listed and got as declared, and every resource has a mount.

use resource::{ErrorKind, PageRequest, Provider, Skills, Uri};

use super::ctx;
use super::walk::{expect, pages};

/// Pages of skills join, each is got by its URI, and an unknown one is invalid.
pub async fn skills_are_as_listed(provider: &dyn Provider) {
    let Some(skills) = provider.facets().skills else { return };
    let whole = listed(skills, 1000).await;
    for limit in [1, 2, 3] {
        assert_eq!(listed(skills, limit).await, whole, "pages of {limit} skills are another list");
    }
    let may_list = skills.may_list_skills(&ctx());
    assert!(whole.is_empty() || may_list, "skills are listed and denied");
    for uri in &whole {
        let (skill, _) = expect(skills.get_skill(&ctx(), uri).await, &format!("getting {uri}"));
        assert_eq!(skill.uri, *uri, "another skill than the one asked for");
    }
    let unknown = expect(Uri::parse("skill://no-such-skill/SKILL.md"), "parsing a URI");
    let kind = skills.get_skill(&ctx(), &unknown).await.err().map(|error| error.kind);
    assert_eq!(kind, Some(ErrorKind::Invalid), "an unknown skill");
    expect(skills.list_skill_index(&ctx(), &PageRequest::first(10)).await, "listing the index");
}

async fn listed(skills: &dyn Skills, limit: usize) -> Vec<Uri> {
    let (mut all, mut paging) = (Vec::new(), PageRequest::first(limit));
    for _ in 0..10_000 {
        let page = expect(skills.list_skills(&ctx(), &paging).await, "listing skills");
        assert!(page.items.len() <= limit, "a page of {limit} skills is larger");
        all.extend(page.items.iter().map(|skill| skill.uri.clone()));
        match page.next {
            None => return all,
            next => paging.cursor = next,
        }
    }
    panic!("listing skills by {limit} does not end");
}

/// Each resource of the list belongs to a mount, and mounts have names of their own.
pub async fn mounts_are_told(provider: &dyn Provider) {
    let Some(mounts) = provider.facets().mounts else { return };
    let mut names: Vec<String> = mounts.mounts(&ctx()).into_iter().map(|one| one.name).collect();
    for resource in pages(provider, None, 1000).await {
        let owner = mounts.mount_of(&resource.uri);
        assert!(owner.is_some(), "{} is listed and belongs to no mount", resource.uri);
    }
    names.sort();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "two mounts have one name");
}
