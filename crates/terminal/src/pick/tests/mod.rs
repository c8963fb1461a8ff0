//! Tests of the picker: a person at the keys, and a server that answers every request.

mod changes;
mod screens;
mod states;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use resource::Role;

use super::events::{PickEvent, PickOptions, PickPassage, PickRequest, PickTokens, TreeSource};
use super::node::{PickLine, PickRow};
use super::placement::{PickMount, decoded};
use super::preview::PickPreview;
use super::state::PickState;
use super::view::draw_picker;
use crate::theme::ViewTheme;

/// How many rows a page of the server has.
const PAGE: usize = 50;

/// A server with lists of collections, by URI; the plain list has none.
#[derive(Default)]
struct FakeServer {
    lists: HashMap<String, Vec<PickRow>>,
    mounts: Vec<PickMount>,
    passages: Vec<PickPassage>,
    texts: HashMap<String, String>,
}

/// A person who uses the picker.
struct Person {
    state: PickState,
    server: FakeServer,
    waiting: VecDeque<PickRequest>,
    /// Every request that was answered.
    answered: Vec<PickRequest>,
}

impl Person {
    fn new(options: PickOptions, server: FakeServer) -> Self {
        let mut state = PickState::new(options);
        let waiting = state.start().into();
        let mut person = Self { state, server, waiting, answered: Vec::new() };
        person.wait();
        person
    }

    /// Presses a key; the answers of the server are not there yet.
    fn press_only(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        let key = Event::Key(KeyEvent::new(code, modifiers));
        self.waiting.extend(self.state.update(PickEvent::Input(key)));
    }

    fn press(&mut self, code: KeyCode) {
        self.press_only(code, KeyModifiers::NONE);
        self.wait();
    }

    fn press_control(&mut self, letter: char) {
        self.press_only(KeyCode::Char(letter), KeyModifiers::CONTROL);
        self.wait();
    }

    fn type_text(&mut self, text: &str) {
        for letter in text.chars() {
            self.press_only(KeyCode::Char(letter), KeyModifiers::NONE);
        }
        self.wait();
    }

    /// Waits until the server has answered everything and all names are matched.
    fn wait(&mut self) {
        loop {
            let event = match self.waiting.pop_front() {
                Some(request) => {
                    self.answered.push(request.clone());
                    self.server.answer(request)
                }
                None if self.state.has_work() => PickEvent::Step,
                None => return,
            };
            self.waiting.extend(self.state.update(event));
        }
    }

    /// The list as words: names of the tree or paths of matches, and what stands between.
    fn list(&self) -> Vec<String> {
        let words = |line: &PickLine| match line {
            PickLine::Node(node) if self.state.names.is_none() => {
                let node = self.state.tree.get(*node);
                format!("{}{}", "  ".repeat(usize::from(node.depth)), node.name)
            }
            PickLine::Node(node) => self.state.tree.get(*node).path.to_string(),
            PickLine::Note(node) => format!("({:?})", self.state.tree.get(*node).load),
            PickLine::Heading(words) => format!("-- {words}"),
            PickLine::Hit(hit) => self.state.hits[*hit].snippet.clone(),
        };
        self.state.lines.iter().map(words).collect()
    }

    /// What the terminal shows, without the spaces at the ends of lines.
    fn shown(&self) -> String {
        crate::theme::shown(self.screen().backend().buffer())
    }

    fn screen(&self) -> Terminal<TestBackend> {
        let (width, height) = self.state.options.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let theme = ViewTheme { colors: true };
        terminal.draw(|frame| draw_picker(&self.state, theme, frame)).unwrap();
        terminal
    }
}

impl FakeServer {
    fn answer(&self, request: PickRequest) -> PickEvent {
        match request {
            PickRequest::Mounts => PickEvent::Mounts(Ok(self.mounts.clone())),
            PickRequest::Page { node, uri, cursor } => {
                let uri = uri.as_deref().unwrap_or_default();
                let start: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
                match self.lists.get(uri) {
                    None => PickEvent::PageFailed { node, words: format!("no list of {uri}") },
                    Some(rows) => {
                        let page = rows.iter().skip(start).take(PAGE).cloned().collect();
                        let next = (start + PAGE < rows.len()).then(|| (start + PAGE).to_string());
                        PickEvent::Page { node, rows: page, next }
                    }
                }
            }
            PickRequest::Timer { timer, serial } => PickEvent::Timer { timer, serial },
            PickRequest::Search { serial, .. } => {
                PickEvent::Hits { serial, hits: Ok(self.passages.clone()) }
            }
            PickRequest::Preview { key, uri, .. } => {
                let preview = match self.texts.get(&*uri) {
                    Some(text) => PickPreview::Text {
                        text: Arc::from(crate::output::visible(text)),
                        is_whole: true,
                        tokens: tokens(text),
                    },
                    None => PickPreview::Words("no text to show".to_owned()),
                };
                PickEvent::Preview { key, preview }
            }
            PickRequest::Measure { node, uri, .. } => {
                let tokens = self.texts.get(&*uri).map(|text| tokens(text)).unwrap_or_default();
                PickEvent::Measured { node, tokens }
            }
            PickRequest::Watch { .. } | PickRequest::Redraw => PickEvent::Step,
        }
    }
}

fn tokens(text: &str) -> PickTokens {
    PickTokens { count: resource::tokens::estimate(text), is_whole: true }
}

fn file(uri: &str) -> PickRow {
    let name = decoded(uri.rsplit('/').next().unwrap_or_default());
    let mime = if uri.ends_with(".md") { "text/markdown" } else { "text/x-rust" };
    let (mime, size) = (Some(mime.to_owned()), Some(1_234));
    PickRow { uri: uri.to_owned(), name, mime, size, ..PickRow::default() }
}

fn folder(uri: &str) -> PickRow {
    let mime = Some("inode/directory".to_owned());
    let row = PickRow { is_collection: true, is_folder: true, mime, ..file(uri) };
    PickRow { size: None, ..row }
}

fn options(width: u16, height: u16) -> PickOptions {
    PickOptions {
        scope: None,
        source: TreeSource::Mounts,
        has_search: true,
        can_watch: true,
        budget: 8_000,
        size: (width, height),
    }
}

/// A refdesk with a project, documents in Japanese, and a server behind it.
fn desk() -> FakeServer {
    let mount = |name: &str, root: &str| PickMount {
        name: name.to_owned(),
        root: (!root.is_empty()).then(|| root.to_owned()),
    };
    let mut guide = file("file:///docs/%E3%81%AF%E3%81%98%E3%82%81%E3%81%AB.md");
    guide.title = Some("はじめての参考デスク".to_owned());
    guide.audience = vec![Role::User];
    guide.priority = Some(0.9);
    let lists = [
        ("", vec![file("notes+memo://desk/today/%E4%BC%9A%E8%AD%B0.md"), file("note://loose")]),
        (
            "file:///app/",
            vec![folder("file:///app/src"), file("file:///app/README.md"), evil_file()],
        ),
        ("file:///app/src", vec![file("file:///app/src/main.rs"), file("file:///app/src/lib.rs")]),
        ("file:///docs/", vec![guide, file("file:///docs/%E8%B3%87%E6%96%99%E9%9B%86.md")]),
    ];
    let texts = [
        ("file:///app/README.md", "# app\n\nA small program.\n"),
        ("file:///app/src/main.rs", "fn main() {\n\tprintln!(\"\x1b[31mred\");\n}\n"),
        (
            "file:///docs/%E8%B3%87%E6%96%99%E9%9B%86.md",
            "# 資料集\n\n日本語の文書は全角で二桁になる。\n",
        ),
    ];
    FakeServer {
        lists: lists.map(|(uri, rows)| (uri.to_owned(), rows)).into(),
        mounts: vec![
            mount("app", "file:///app/"),
            mount("docs", "file:///docs/"),
            mount("notes", "notes+"),
            mount("loose", ""),
        ],
        passages: vec![PickPassage {
            uri: "file:///docs/%E8%B3%87%E6%96%99%E9%9B%86.md".to_owned(),
            line: Some(3),
            snippet: "日本語の**文書**は全角で二桁になる。".to_owned(),
        }],
        texts: texts.map(|(uri, text)| (uri.to_owned(), text.to_owned())).into(),
    }
}

/// A file whose name wants to write to the terminal.
fn evil_file() -> PickRow {
    PickRow { name: "evil\x1b]0;title\x07\u{202e}.rs".to_owned(), ..file("file:///app/evil") }
}
