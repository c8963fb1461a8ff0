//! Tests of access rules: no bytes of an archive, no text of a server and no template holds what is
//! denied.

use std::sync::Arc;

use async_trait::async_trait;
use catalog::{AccessRule, Address, Catalog, Mount, MountOptions};
use resource::{
    Body, Content, Context, ErrorKind, Facets, Freshness, Page, PageRequest, Provider, ReadRequest,
    Reading, Resource, Template, Uri, UriTemplate, Variable, VariableKind, Window,
};
use testkit::MemoryProvider;

use crate::access::{bob, options, uri};
use crate::unpacked::{with_archive, zip_of};

fn deny(globs: &[&str]) -> Vec<AccessRule> {
    let globs = globs.iter().copied().map(str::to_owned).collect();
    let principals = vec!["bob".to_owned()];
    let everyone = vec!["bob".to_owned(), "ada".to_owned()];
    vec![
        AccessRule { globs, principals, ..AccessRule::default() },
        AccessRule { allows: true, principals: everyone, ..AccessRule::default() },
    ]
}

fn ada() -> Context {
    Context::new(resource::Principal::authenticated("ada"))
}

fn archives(name: &str, bytes: &[u8], rules: Vec<AccessRule>) -> Catalog {
    let options = MountOptions { unpack: true, ..options(rules) };
    let address = Address::Path { scheme: "file", name: "m".to_owned() };
    let provider = with_archive(name, bytes);
    Catalog::new(vec![Mount::new("m", address, provider, options)])
}

/// A request for the bytes of an archive: a plain one gets its list.
fn first_bytes() -> ReadRequest {
    ReadRequest::from(Window::Part { offset: 0, length: 99, etag: None })
}

#[tokio::test]
async fn the_bytes_of_an_archive_are_withheld_where_a_member_may_be_denied() {
    let zip = zip_of(&[("docs/a.md", b"open"), ("id.key", b"a secret")]);
    let archive = "file:///m/app/a.zip";
    let with = archives("a.zip", &zip, deny(&["*.key"]));
    let refused = with.read(&bob(), &uri(archive), &first_bytes()).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Unsupported, "{refused:?}");
    assert!(with.read(&ada(), &uri(archive), &first_bytes()).await.is_ok());
    // It is the same without such a member: the error does not tell of one.
    let without = archives("a.zip", &zip_of(&[("docs/a.md", b"open")]), deny(&["*.key"]));
    let same = without.read(&bob(), &uri(archive), &first_bytes()).await.unwrap_err();
    assert_eq!((same.kind, same.message), (refused.kind, refused.message));
    let member = uri("file:///m/app/a.zip/docs/a.md");
    assert!(with.read(&bob(), &member, &ReadRequest::whole(99)).await.is_ok());
    let elsewhere = archives("a.zip", &zip, deny(&["secret/**"]));
    let read = elsewhere.read(&bob(), &uri(archive), &first_bytes()).await;
    assert!(read.is_ok(), "nothing in it may be denied: {read:?}");
}

const MAIL: &str = "From: a@example.com\r\nSubject: keys\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n\
    --b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=id.NAME\r\n\r\n\
    a secret\r\n--b--\r\n";

#[tokio::test]
async fn a_mail_is_read_unless_it_has_an_attachment_that_is_denied() {
    let mail = "file:///m/app/a.eml";
    for (ending, is_read) in [("txt", true), ("key", false)] {
        let bytes = MAIL.replace("NAME", ending);
        let catalog = archives("a.eml", bytes.as_bytes(), deny(&["*.key"]));
        let read = catalog.read(&bob(), &uri(mail), &ReadRequest::whole(1 << 20)).await;
        assert_eq!(read.is_ok(), is_read, "{ending}: {read:?}");
        assert!(catalog.read(&ada(), &uri(mail), &ReadRequest::whole(1 << 20)).await.is_ok());
    }
}

/// A server that writes a text for its folder, and describes its template.
struct Writer(MemoryProvider);

#[async_trait]
impl Provider for Writer {
    async fn list(
        &self,
        ctx: &Context,
        parent: Option<&Uri>,
        paging: &PageRequest,
    ) -> resource::Result<Page<Resource>> {
        self.0.list(ctx, parent, paging).await
    }

    async fn templates(&self, _: &Context, _: &PageRequest) -> resource::Result<Page<Template>> {
        let mut template = Template::new(UriTemplate::parse("note://p/{id}").unwrap(), "a note");
        let allowed = ["ada", "secret"].map(str::to_owned).to_vec();
        let default = Some("secret".to_owned());
        let (name, kind) = ("id".to_owned(), VariableKind::Text);
        template.variables = vec![Variable { name, description: None, kind, default, allowed }];
        Ok(Page::from_items(vec![Arc::new(template)], Freshness::default()))
    }

    async fn stat(&self, ctx: &Context, uri: &Uri) -> resource::Result<Arc<Resource>> {
        self.0.stat(ctx, uri).await
    }

    async fn read(
        &self,
        ctx: &Context,
        uri: &Uri,
        request: &ReadRequest,
    ) -> resource::Result<Reading> {
        if uri.as_str() != "file:///docs" {
            return self.0.read(ctx, uri, request).await;
        }
        let text = "# docs\n\n- a.md\n- id.key\n".to_owned();
        let resource = Resource::new(uri.clone(), "docs");
        Reading::of_text(resource, text, request, Freshness::default())
    }

    fn facets(&self) -> Facets<'_> {
        self.0.facets()
    }
}

fn written(rules: Vec<AccessRule>) -> Catalog {
    let memory = MemoryProvider::new()
        .collection("file:///docs", &["file:///docs/a.md", "file:///docs/id.key"])
        .text("file:///docs/a.md", "open")
        .text("file:///docs/id.key", "a secret");
    let address = Address::Scheme { name: "m".to_owned() };
    Catalog::new(vec![Mount::new("m", address, Writer(memory), options(rules))])
}

#[tokio::test]
async fn the_text_of_a_folder_that_a_server_wrote_gives_way_to_the_list() {
    let catalog = written(deny(&["*.key"]));
    let folder = uri("m+file:///docs");
    let whole = catalog.read(&ada(), &folder, &ReadRequest::whole(999)).await.unwrap();
    let Content::Parts(parts) = whole.content else { panic!("she has its text") };
    assert!(matches!(parts[0].body, Body::Text(_)));
    let listed = catalog.read(&bob(), &folder, &ReadRequest::whole(999)).await.unwrap();
    assert!(matches!(listed.content, Content::Collection(_)), "{:?}", listed.content);
    let file = catalog.read(&bob(), &uri("m+file:///docs/a.md"), &ReadRequest::whole(9)).await;
    assert!(matches!(file.unwrap().content, Content::Parts(_)));
}

#[tokio::test]
async fn a_template_names_no_value_that_leads_to_what_is_denied() {
    let catalog = written(deny(&["p/secret"]));
    let values = async |who: &Context| {
        let page = catalog.templates(who, &PageRequest::first(9)).await.unwrap();
        let variable = &page.items[0].variables[0];
        (variable.allowed.clone(), variable.default.clone())
    };
    assert_eq!(values(&bob()).await, (vec!["ada".to_owned()], None));
    assert_eq!(values(&ada()).await.0.len(), 2);
}
