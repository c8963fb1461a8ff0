//! Interoperability tests of notifications with the official Rust SDK, all eras and transports.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::mem;
use std::path::Path;
use std::time::Duration;

use rmcp::model::{
    ResourceUpdatedNotificationParam, ServerNotification, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RunningService, Subscription,
};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, RoleClient};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::program::{HttpProgram, refdesk};
use crate::rmcp::modes;

const TIMEOUT: Duration = Duration::from_secs(20);
const LISTS: &str = "lists";
const ONE: &str = "file:///watched/one.txt";
const OTHER: &str = "file:///watched/other.txt";

#[tokio::test]
async fn rmcp_hears_of_its_own_changes_over_a_pipe() {
    for ((mode, _), (same, _)) in modes().into_iter().zip(modes()) {
        let folder = Folder::new();
        let connect = async |mode| {
            let command = refdesk(folder.path(), &["serve", "--stdio", "watched"]);
            let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
            ChangeClient::new(mode, async |heard, mode| {
                heard.serve_with_lifecycle(transport, mode).await
            })
            .await
        };
        check_notifications(connect(mode).await, connect(same).await, folder).await;
    }
}

#[tokio::test]
async fn rmcp_hears_of_its_own_changes_over_http() {
    for ((mode, _), (same, _)) in modes().into_iter().zip(modes()) {
        let folder = Folder::new();
        let listening = HttpProgram::start(folder.path(), &["watched"]);
        let connect = async |mode| {
            let transport = StreamableHttpClientTransport::from_uri(listening.url());
            ChangeClient::new(mode, async |heard, mode| {
                heard.serve_with_lifecycle(transport, mode).await
            })
            .await
        };
        check_notifications(connect(mode).await, connect(same).await, folder).await;
    }
}

/// Two clients: each gets every change it subscribed to once, and none after unsubscribing.
async fn check_notifications(mut a: ChangeClient, mut b: ChangeClient, mut folder: Folder) {
    a.subscribe_to_lists().await;
    b.subscribe_to_lists().await;
    a.subscribe(ONE).await;
    b.subscribe(OTHER).await;
    folder.change("one.txt");
    a.until(ONE).await;
    folder.change("other.txt");
    b.until(OTHER).await;
    folder.create("apart.txt");
    assert_eq!(a.until(LISTS).await, [ONE, LISTS]);
    assert_eq!(b.until(LISTS).await, [OTHER, LISTS]);

    b.subscribe(ONE).await;
    a.unsubscribe(ONE).await;
    folder.change("one.txt");
    // Only the client that is still subscribed gets it; the list change reaches both.
    b.until(ONE).await;
    folder.create("ended.txt");
    assert_eq!(a.until(LISTS).await, [LISTS]);
    assert_eq!(b.until(LISTS).await, [ONE, LISTS]);
    a.client.cancel().await.unwrap();
    b.client.cancel().await.unwrap();
}

/// One client, with its notifications since the last list change.
struct ChangeClient {
    client: RunningService<RoleClient, Handler>,
    legacy: bool,
    streams: HashMap<String, Stream>,
    tell: UnboundedSender<String>,
    told: UnboundedReceiver<String>,
    heard: Vec<String>,
}

/// The reader task of one `subscriptions/listen` stream.
struct Stream {
    stop: oneshot::Sender<()>,
    reading: JoinHandle<()>,
}

/// Receives notifications outside of a stream: all of them through 2025-11-25, none since.
struct Handler(UnboundedSender<String>);

impl ClientHandler for Handler {
    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(params.uri);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(LISTS.to_owned());
    }
}

impl ChangeClient {
    async fn new<E: std::fmt::Debug>(
        mode: ClientLifecycleMode,
        connect: impl AsyncFnOnce(
            Handler,
            ClientLifecycleMode,
        ) -> Result<RunningService<RoleClient, Handler>, E>,
    ) -> Self {
        let legacy = matches!(mode, ClientLifecycleMode::Initialize);
        let (tell, told) = unbounded_channel();
        let client = connect(Handler(tell.clone()), mode).await.unwrap();
        Self { client, legacy, streams: HashMap::new(), tell, told, heard: Vec::new() }
    }

    /// Subscribes to list changes; a session gets them without asking.
    async fn subscribe_to_lists(&mut self) {
        if !self.legacy {
            let lists = SubscriptionFilter::builder().resources_list_changed().build();
            self.listen(LISTS, lists).await;
        }
    }

    async fn subscribe(&mut self, uri: &str) {
        if self.legacy {
            #[expect(deprecated, reason = "it is how a session subscribes")]
            self.client.subscribe(SubscribeRequestParams::new(uri)).await.unwrap();
        } else {
            let one = SubscriptionFilter::builder().resource_subscription(uri).build();
            self.listen(uri, one).await;
        }
    }

    async fn unsubscribe(&mut self, uri: &str) {
        if self.legacy {
            #[expect(deprecated, reason = "it is how a session unsubscribes")]
            self.client.unsubscribe(UnsubscribeRequestParams::new(uri)).await.unwrap();
        } else {
            let Stream { stop, reading } = self.streams.remove(uri).unwrap();
            stop.send(()).unwrap();
            reading.await.unwrap();
        }
    }

    async fn listen(&mut self, key: &str, wishes: SubscriptionFilter) {
        let subscription = self.client.listen(wishes.clone()).await.unwrap();
        assert_eq!(*subscription.acknowledged(), wishes);
        let (stop, stopped) = oneshot::channel();
        let reading = tokio::spawn(read(subscription, self.tell.clone(), stopped));
        self.streams.insert(key.to_owned(), Stream { stop, reading });
    }

    /// Waits for `notice`. At a list change it returns everything received until then.
    async fn until(&mut self, notice: &str) -> Vec<String> {
        while !self.heard.iter().any(|heard| heard == notice) {
            let next = timeout(TIMEOUT, self.told.recv()).await;
            let next = next.unwrap_or_else(|_| panic!("{notice}, but heard {:?}", self.heard));
            self.heard.push(next.unwrap());
        }
        if notice == LISTS { mem::take(&mut self.heard) } else { Vec::new() }
    }
}

async fn read(
    mut subscription: Subscription,
    tell: UnboundedSender<String>,
    mut stopped: oneshot::Receiver<()>,
) {
    loop {
        let notice = tokio::select! {
            notice = subscription.next() => notice.unwrap(),
            _ = &mut stopped => return subscription.cancel().await.unwrap(),
        };
        let told = match notice {
            Some(ServerNotification::ResourceUpdatedNotification(updated)) => updated.params.uri,
            Some(ServerNotification::ResourceListChangedNotification(_)) => LISTS.to_owned(),
            Some(other) => format!("{other:?}"),
            None => return,
        };
        let _ = tell.send(told);
    }
}

/// A served folder. Each change is a single system call, so that it causes a single notification.
struct Folder {
    root: TempDir,
    changes: usize,
}

impl Folder {
    fn new() -> Self {
        let root = TempDir::with_prefix("watched").unwrap();
        let watched = root.path().join("watched");
        fs::create_dir(&watched).unwrap();
        for name in ["one.txt", "other.txt"] {
            fs::write(watched.join(name), "version 0\n").unwrap();
        }
        Self { root, changes: 0 }
    }

    fn path(&self) -> &Path {
        self.root.path()
    }

    fn change(&mut self, name: &str) {
        let text = self.text();
        let path = self.path().join("watched").join(name);
        let mut file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn create(&mut self, name: &str) {
        let text = self.text();
        let draft = self.path().join(name);
        fs::write(&draft, text).unwrap();
        fs::rename(draft, self.path().join("watched").join(name)).unwrap();
    }

    fn text(&mut self) -> String {
        self.changes += 1;
        format!("version {}\n", self.changes)
    }
}
