//! Tests of merged skills: public URIs, digests, missing mounts, and what is hidden or denied.

use std::sync::Arc;
use std::time::Duration;

use catalog::{
    AccessRule, AccessRules, Address, Catalog, MetadataRule, MetadataRules, Mount, MountOptions,
    RuleEffect,
};
use redaction::{Redaction, RedactionScope};
use resource::{
    Context, ErrorKind, PageRequest, Principal, Skill, SkillFiles, SkillIndexEntry, Skills, Uri,
};
use testkit::MemoryProvider;
use testkit::memory::{Fault, FaultPoint};

fn options() -> MountOptions {
    MountOptions {
        access: Arc::default(),
        rules: MetadataRules::default(),
        tools: None,
        max_read: 1 << 20,
        timeout: Duration::from_secs(30),
        required: false,
        rendering: None,
        work_pool: Arc::default(),
        unpack: false,
        masks_itself: false,
        redaction: Redaction::default(),
    }
}

fn mount(name: &str, provider: MemoryProvider, options: MountOptions) -> Mount {
    Mount::new(name, Address::Scheme { name: name.to_owned() }, provider, options)
}

fn pdf() -> MemoryProvider {
    let files = ["skill://pdf/SKILL.md", "skill://pdf/forms.md", "skill://pdf/secret.md"];
    MemoryProvider::new()
        .skill("skill://pdf/SKILL.md", &files)
        .skill("skill://secret/SKILL.md", &["skill://secret/SKILL.md"])
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

fn files(skill: &Skill) -> Vec<&str> {
    let SkillFiles::Complete(files) = &skill.files else { panic!("{skill:?}") };
    files.iter().map(|file| file.uri.as_str()).collect()
}

async fn listed(catalog: &Catalog, ctx: &Context) -> Vec<Arc<Skill>> {
    let (mut all, mut ask) = (Vec::new(), PageRequest::first(1));
    loop {
        let page = catalog.list_skills(ctx, &ask).await.unwrap();
        all.extend(page.items);
        match page.next {
            Some(next) => ask.cursor = Some(next),
            None => return all,
        }
    }
}

async fn index_urls(catalog: &Catalog, ctx: &Context) -> Vec<String> {
    let page = catalog.list_skill_index(ctx, &PageRequest::first(100)).await.unwrap();
    page.items.iter().map(|entry: &Arc<SkillIndexEntry>| entry.url.clone()).collect()
}

#[tokio::test]
async fn skills_of_all_mounts_have_public_uris_and_keep_digests_and_sizes() {
    let other = MemoryProvider::new().skill("git://r/pdf/SKILL.md", &["git://r/pdf/SKILL.md"]);
    let catalog = Catalog::new(vec![
        mount("notes", pdf(), options()),
        mount("other", other, options()),
        mount("plain", MemoryProvider::new().text("a:b", ""), options()),
    ]);
    let ctx = testkit::local_context();
    assert!(catalog.may_list_skills(&ctx));
    let skills = listed(&catalog, &ctx).await;
    let uris: Vec<&str> = skills.iter().map(|skill| skill.uri.as_str()).collect();
    let expected = [
        "skill://notes/pdf/SKILL.md",
        "skill://notes/secret/SKILL.md",
        "other+git://r/pdf/SKILL.md",
    ];
    assert_eq!(uris, expected);
    assert_eq!(index_urls(&catalog, &ctx).await, expected);
    let SkillFiles::Complete(manifest) = &skills[0].files else { panic!("{skills:?}") };
    assert_eq!(manifest[1].uri.as_str(), "skill://notes/pdf/forms.md");
    assert_eq!((manifest[1].digest.as_str(), manifest[1].size), ("sha256:skill://pdf/forms.md", 7));
    let (got, _) = catalog.get_skill(&ctx, &skills[0].uri).await.unwrap();
    assert_eq!(got, skills[0]);
    for unknown in ["skill://notes/none/SKILL.md", "skill://pdf/SKILL.md", "plain+a:b"] {
        let error = catalog.get_skill(&ctx, &uri(unknown)).await.unwrap_err();
        assert_eq!((error.kind, error.uri), (ErrorKind::Invalid, Some(uri(unknown))));
    }
}

#[tokio::test(start_paused = true)]
async fn a_mount_that_fails_or_hangs_is_named_and_the_others_are_listed() {
    for fault in [Fault::Fails(ErrorKind::Unavailable), Fault::Hangs] {
        let broken = pdf();
        broken.inject_fault(FaultPoint::Skills, fault);
        let catalog =
            Catalog::new(vec![mount("broken", broken, options()), mount("ok", pdf(), options())]);
        let ctx = testkit::local_context();
        let page = catalog.list_skills(&ctx, &PageRequest::first(10)).await.unwrap();
        assert_eq!((page.items.len(), page.absent[0].name.as_str()), (2, "broken"));
        let index = catalog.list_skill_index(&ctx, &PageRequest::first(10)).await.unwrap();
        assert_eq!((index.items.len(), index.absent[0].name.as_str()), (2, "broken"));
    }
}

#[tokio::test]
async fn what_is_denied_or_hidden_is_in_no_skill() {
    let denied = AccessRule {
        allows: false,
        globs: vec!["**/secret*".to_owned(), "**/secret/**".to_owned()],
        principals: vec!["bob".to_owned()],
        ..AccessRule::default()
    };
    let globs = vec!["**".to_owned()];
    let everything = AccessRule { allows: true, globs, ..AccessRule::default() };
    let access = Arc::new(AccessRules::new(vec![denied, everything]).unwrap());
    let hide = RuleEffect { hide: Some(true), ..RuleEffect::default() };
    let rules = ["secret", "secret.md"]
        .map(|glob| MetadataRule { glob: glob.to_owned(), effect: hide.clone() });
    let rules = MetadataRules::new(rules).unwrap();
    let bob = Context::new(Principal::authenticated("bob"));
    let local = testkit::local_context();
    for (options, ctx) in [
        (MountOptions { access, ..options() }, &bob),
        (MountOptions { rules, ..options() }, &local),
    ] {
        let catalog = Catalog::new(vec![mount("notes", pdf(), options)]);
        let skills = listed(&catalog, ctx).await;
        assert_eq!(skills.len(), 1, "{skills:?}");
        let open = ["skill://notes/pdf/SKILL.md", "skill://notes/pdf/forms.md"];
        assert_eq!(files(&skills[0]), open);
        assert_eq!(index_urls(&catalog, ctx).await, open[..1]);
        let (got, _) = catalog.get_skill(ctx, &uri(open[0])).await.unwrap();
        assert_eq!(files(&got), open);
        let missing = catalog.get_skill(ctx, &uri("skill://notes/none/SKILL.md")).await;
        let secret = catalog.get_skill(ctx, &uri("skill://notes/secret/SKILL.md")).await;
        assert_eq!(secret.unwrap_err().message, missing.unwrap_err().message);
    }
}

#[tokio::test]
async fn a_skill_whose_files_are_masked_has_no_digests() {
    let redaction = Redaction::new(RedactionScope::Everything, Arc::default());
    let catalog =
        Catalog::new(vec![mount("notes", pdf(), MountOptions { redaction, ..options() })]);
    let skills = listed(&catalog, &testkit::local_context()).await;
    assert_eq!(skills[0].files, SkillFiles::Dynamic);
}

#[tokio::test]
async fn a_server_without_a_prefix_cannot_claim_skills_of_another_mount() {
    let foreign = MemoryProvider::new()
        .skill("skill://notes/pdf/SKILL.md", &["skill://notes/pdf/SKILL.md"])
        .skill("skill://own/SKILL.md", &["skill://own/SKILL.md", "skill://notes/pdf/forms.md"])
        .skill("skill://fine/SKILL.md", &["skill://fine/SKILL.md"]);
    let fallback = Mount::new("rest", Address::Fallback, foreign, options());
    let catalog = Catalog::new(vec![mount("notes", MemoryProvider::new(), options()), fallback]);
    let ctx = testkit::local_context();
    let skills = listed(&catalog, &ctx).await;
    assert_eq!(skills.len(), 1, "{skills:?}");
    assert_eq!(skills[0].uri.as_str(), "skill://fine/SKILL.md");
    let error = catalog.get_skill(&ctx, &uri("skill://own/SKILL.md")).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let urls = index_urls(&catalog, &ctx).await;
    assert_eq!(urls, ["skill://own/SKILL.md", "skill://fine/SKILL.md"]);
}
