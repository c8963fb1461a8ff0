//! Tests of the client registry: its bounds, its principals, and what it shows.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use protocol::{Call, ClientLabel, Method, Reply, Revision};
use resource::{Context, Error, Interest, Principal, Uri, Watch};
use testkit::{Expectations, contract, local_context, two_contexts};
use tokio::time;

use super::{
    ClientRegistry, ClientTerms, ClientTransport, ConnectedClient, MAX_CLIENTS, MAX_PRINCIPALS,
    MAX_RECENT, RequestRecord, plain_text,
};

const STDIO: ClientTerms =
    ClientTerms { revision: Revision::ALL[1], transport: ClientTransport::Stdio };
const HTTP: ClientTerms =
    ClientTerms { revision: Revision::ALL[0], transport: ClientTransport::Http };

fn label(name: &str) -> ClientLabel<'_> {
    ClientLabel { name: Some(Cow::Borrowed(name)), version: Some(Cow::Borrowed("1.0")) }
}

fn uri(text: &str) -> Uri {
    Uri::parse(text).unwrap()
}

/// The client reads `text`, which does not exist.
fn read_missing(client: &Arc<ConnectedClient>, text: &str) {
    let uri = uri(text);
    let call = Call::Metadata { uri: uri.clone() };
    RequestRecord::begin(client, Method::Read, &call).finish(&Err(Error::not_found(&uri)));
}

fn ping(client: &Arc<ConnectedClient>) {
    RequestRecord::begin(client, Method::Ping, &Call::Ping).finish(&Ok(Reply::Empty));
}

fn local() -> Principal {
    Principal::local()
}

/// How often `word` stands in what the principal of `ctx` is shown.
fn count(clients: &ClientRegistry, ctx: &Context, word: &str) -> usize {
    clients.status_json(ctx).matches(word).count()
}

#[tokio::test]
async fn who_is_connected_is_a_resource_like_others() {
    let clients = ClientRegistry::new();
    let client = clients.add_session(&local(), &label("host"), STDIO);
    read_missing(&client, "file:///app/日本.txt");
    let known = Expectations {
        missing: vec![uri("refdesk://clients/c1"), uri("refdesk://subscriptions")],
        ..Expectations::default()
    };
    contract(&clients, &known).await;
}

#[test]
fn a_principal_sees_its_own_clients_and_requests_only() {
    let clients = ClientRegistry::new();
    let [one, other] = two_contexts();
    let first = clients.add_session(one.principal(), &label("ada-host"), STDIO);
    let second = clients.find_stateless(other.principal(), &label("grace-host"), HTTP);
    read_missing(&first, "file:///ada/secret");
    read_missing(&second, "file:///grace/secret");
    for (ctx, own, foreign) in [(&one, "ada", "grace"), (&other, "grace", "ada")] {
        let text = clients.status_json(ctx);
        assert!(text.contains(&format!("file:///{own}/secret")), "{text}");
        assert!(!text.contains(foreign), "{text}");
    }
}

#[test]
fn a_session_is_shown_until_it_ends_and_its_requests_remain() {
    let (clients, ctx) = (ClientRegistry::new(), local_context());
    let client = clients.add_session(&local(), &label("host"), STDIO);
    read_missing(&client, "a:1");
    assert_eq!(count(&clients, &ctx, r#""transport": "stdio""#), 1);
    drop(client);
    assert_eq!(count(&clients, &ctx, r#""transport": "stdio""#), 0);
    assert_eq!(count(&clients, &ctx, r#""uri": "a:1""#), 1);
}

#[test]
fn a_stateless_client_is_one_client_until_it_is_silent() {
    let (clients, ctx) = (ClientRegistry::new(), local_context());
    let client = clients.find_stateless(&local(), &label("host"), HTTP);
    let again = clients.find_stateless(&local(), &label("host"), HTTP);
    assert!(Arc::ptr_eq(&client, &again));
    let other = clients.find_stateless(&local(), &label("host2"), HTTP);
    assert!(!Arc::ptr_eq(&client, &other));
    client.last_seen.store(0, Ordering::Relaxed);
    assert_eq!(count(&clients, &ctx, r#""transport": "http""#), 1, "the silent one is gone");
    let listening = client.hold_subscriptions(2);
    assert_eq!(count(&clients, &ctx, r#""subscriptions": 2"#), 1, "one that listens is not");
    drop(listening);
    assert_eq!(count(&clients, &ctx, r#""transport": "http""#), 1);
    ping(&client);
    assert_eq!(count(&clients, &ctx, r#""transport": "http""#), 2, "it is back");
}

#[test]
fn the_tables_are_bounded_and_a_client_that_made_room_comes_back() {
    let (clients, ctx) = (ClientRegistry::new(), local_context());
    let first = clients.add_session(&local(), &label("first"), STDIO);
    first.last_seen.store(0, Ordering::Relaxed);
    let mut sessions = Vec::new();
    for at in 0..MAX_CLIENTS {
        clients.find_stateless(&local(), &label(&format!("alone {at}")), HTTP);
        sessions.push(clients.add_session(&local(), &label("many"), STDIO));
    }
    assert_eq!(count(&clients, &ctx, r#""lastSeen""#), MAX_CLIENTS);
    assert_eq!(count(&clients, &ctx, r#""name": "first""#), 0);
    ping(&first);
    assert_eq!(count(&clients, &ctx, r#""name": "first""#), 1);
    assert_eq!(count(&clients, &ctx, r#""lastSeen""#), MAX_CLIENTS);
    for at in 0..MAX_RECENT + 7 {
        read_missing(&first, &format!("a:{at}"));
    }
    let text = clients.status_json(&ctx);
    assert_eq!(text.matches(r#""milliseconds""#).count(), MAX_RECENT);
    let newest = text.find(&format!("\"a:{}\"", MAX_RECENT + 6)).unwrap();
    let older = text.find(&format!("\"a:{}\"", MAX_RECENT + 5)).unwrap();
    assert!(newest < older, "the newest comes first");
}

#[test]
fn principals_without_clients_make_room_for_others() {
    let clients = ClientRegistry::new();
    let principal = |at: usize| Principal::authenticated(&format!("p{at}"));
    let first = clients.find_stateless(&principal(0), &label("host"), HTTP);
    let second = clients.find_stateless(&principal(1), &label("host"), HTTP);
    first.last_seen.store(0, Ordering::Relaxed);
    for at in 2..MAX_PRINCIPALS + 2 {
        drop(clients.add_session(&principal(at), &label("host"), STDIO));
    }
    assert!(clients.principals.lock().len() <= MAX_PRINCIPALS);
    let again = clients.find_stateless(&principal(1), &label("host"), HTTP);
    assert!(Arc::ptr_eq(&second, &again), "one that is connected stays");
    assert!(!Arc::ptr_eq(&first, &clients.find_stateless(&principal(0), &label("host"), HTTP)));
    // Nothing is left of a registry that nobody uses any more.
    let weak = Arc::downgrade(&second);
    drop((first, second, again, clients));
    assert!(weak.upgrade().is_none());
}

#[test]
fn what_a_client_says_of_itself_is_bounded_and_plain() {
    let (clients, ctx) = (ClientRegistry::new(), local_context());
    let hostile = format!("a\u{1b}[31m\n\u{202e}b{}", "日".repeat(10_000));
    let client = clients.find_stateless(&local(), &label(&hostile), HTTP);
    assert!(Arc::ptr_eq(&client, &clients.find_stateless(&local(), &label(&hostile), HTTP)));
    let name = client.shown_name.clone().unwrap();
    assert!(name.starts_with("a [31m  b日") && name.len() <= 100, "{name}");
    let call = Call::InvokeComponent {
        component: resource::ComponentKind::Tool,
        name: hostile,
        params: "{\"key\":\"secret\"}".into(),
    };
    drop(RequestRecord::begin(&client, Method::Read, &call));
    let text = clients.status_json(&ctx);
    assert!(text.len() < 10_000 && !text.contains("\\u001b") && !text.contains('\u{202e}'));
    assert!(text.contains(r#""outcome": "cancelled""#) && !text.contains("secret"), "{text}");
    read_missing(&client, &format!("a:{}", "b".repeat(8000)));
    assert!(clients.status_json(&ctx).len() < 10_000);
    assert_eq!(plain_text("日本", 4), "日");
}

#[tokio::test(start_paused = true)]
async fn a_busy_client_causes_one_update_a_second_and_a_look_none() {
    let (clients, ctx) = (ClientRegistry::new(), local_context());
    let client = clients.add_session(&local(), &label("host"), STDIO);
    let interest = Interest::Resource(clients.uri().clone());
    let mut updates = clients.watch(&ctx, interest.clone()).await.unwrap();
    read_missing(&client, "refdesk://clients");
    ping(&client);
    assert!(updates.next().now_or_never().is_none(), "a look is no change");
    assert_eq!(count(&clients, &ctx, r#""requests": 2"#), 1, "but it is counted");
    assert_eq!(count(&clients, &ctx, r#""milliseconds""#), 0, "and not kept");
    let mut told = 0;
    for step in 0..1000 {
        read_missing(&client, &format!("a:{step}"));
        while updates.next().now_or_never().is_some() {
            told += 1;
        }
        time::advance(Duration::from_millis(10)).await;
    }
    assert_eq!(told, 10, "ten seconds");
    // The last request is told of too, and nothing after it.
    assert!(updates.next().await.is_some());
    time::advance(Duration::from_secs(5)).await;
    assert!(updates.next().now_or_never().is_none());
    let [_, other] = two_contexts();
    let mut foreign = clients.watch(&other, interest).await.unwrap();
    read_missing(&client, "a:1");
    assert!(foreign.next().now_or_never().is_none(), "another principal is told nothing");
    assert!(updates.next().now_or_never().is_some());
}
