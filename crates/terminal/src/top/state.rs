//! State of `refdesk top`: pure, changed by keys, snapshots and ticks.

use std::time::SystemTime;

use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::text::{Line, Span};

use crate::output::{fit, one_line};
use crate::theme::ViewTheme;
use crate::top::snapshot::TopSnapshot;
use crate::top::view::snapshot_lines;

/// After how many ticks everything is read anew, changed or not.
const REFRESH_TICKS: u32 = 4;

/// What happened.
#[derive(Debug)]
pub(crate) enum TopEvent {
    Input(Event),
    Snapshot(Result<TopSnapshot, String>),
    /// A subscribed resource changed.
    Changed,
    /// Half a second passed.
    Tick,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TopAction {
    Draw,
    Refresh,
    Redraw,
    Leave,
    Interrupt,
}

/// What the view shows.
#[derive(Debug)]
pub(crate) struct TopState {
    snapshot: Option<TopSnapshot>,
    failure: Option<String>,
    pub(crate) scroll: usize,
    size: (u16, u16),
    is_reading: bool,
    is_due: bool,
    ticks: u32,
}

impl TopState {
    /// Nothing yet; the first snapshot is being read.
    pub(crate) fn new(size: (u16, u16)) -> Self {
        Self {
            snapshot: None,
            failure: None,
            scroll: 0,
            size,
            is_reading: true,
            is_due: false,
            ticks: 0,
        }
    }

    pub(crate) fn update(&mut self, event: TopEvent) -> TopAction {
        match event {
            TopEvent::Input(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                return self.press(key.code, is_control);
            }
            TopEvent::Input(Event::Resize(width, height)) => self.size = (width, height),
            TopEvent::Input(_) => {}
            TopEvent::Snapshot(Ok(snapshot)) => {
                (self.snapshot, self.failure, self.is_reading) = (Some(snapshot), None, false);
            }
            // What was read before stays: it says more than nothing.
            TopEvent::Snapshot(Err(words)) => {
                (self.failure, self.is_reading) = (Some(one_line(&words)), false);
            }
            TopEvent::Changed => self.is_due = true,
            TopEvent::Tick => {
                self.ticks += 1;
                self.is_due |= self.ticks >= REFRESH_TICKS;
                if self.is_due {
                    return self.refresh();
                }
            }
        }
        TopAction::Draw
    }

    /// One snapshot is read at a time.
    fn refresh(&mut self) -> TopAction {
        if self.is_reading {
            return TopAction::Draw;
        }
        (self.is_reading, self.is_due, self.ticks) = (true, false, 0);
        TopAction::Refresh
    }

    fn press(&mut self, code: KeyCode, is_control: bool) -> TopAction {
        let page = usize::from(self.size.1).saturating_sub(2).max(1);
        let scroll = self.scroll;
        self.scroll = match (code, is_control) {
            (KeyCode::Char('c'), true) => return TopAction::Interrupt,
            (KeyCode::Char('l'), true) => return TopAction::Redraw,
            (KeyCode::Char('q') | KeyCode::Esc, false) => return TopAction::Leave,
            (KeyCode::Char('r'), false) => return self.refresh(),
            (KeyCode::Up, _) => scroll.saturating_sub(1),
            (KeyCode::Down, _) => scroll + 1,
            (KeyCode::PageUp, _) => scroll.saturating_sub(page),
            (KeyCode::PageDown, _) => scroll + page,
            (KeyCode::Home, _) => 0,
            _ => scroll,
        };
        let lines = self.lines(ViewTheme { colors: false }, SystemTime::UNIX_EPOCH).len();
        self.scroll = self.scroll.min(lines.saturating_sub(page));
        TopAction::Draw
    }

    /// The lines to show.
    pub(crate) fn lines(&self, theme: ViewTheme, now: SystemTime) -> Vec<Line<'static>> {
        let width = usize::from(self.size.0);
        let mut lines = Vec::new();
        if let Some(failure) = &self.failure {
            let words = fit(&format!("no answer: {failure}"), width);
            lines.push(Line::from(Span::styled(words, theme.warning())));
        }
        match &self.snapshot {
            Some(snapshot) => lines.extend(snapshot_lines(snapshot, width, theme, now)),
            None => lines.push(Line::from("…")),
        }
        lines
    }
}
