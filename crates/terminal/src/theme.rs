//! Styles of the full-screen views: the 16 colours that every theme has, or none.

use ratatui::style::{Color, Modifier, Style};

/// What the parts of a view look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewTheme {
    /// Without colours, bold, dim and reversed text tell the parts apart.
    pub(crate) colors: bool,
}

impl ViewTheme {
    fn color(self, color: Color) -> Style {
        if self.colors { Style::new().fg(color) } else { Style::new() }
    }

    pub(crate) fn collection(self) -> Style {
        self.color(Color::Blue).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn matched(self) -> Style {
        self.color(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn chosen(self) -> Style {
        self.color(Color::Green).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn warning(self) -> Style {
        self.color(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The line that the cursor is on.
    pub(crate) fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// The text of a screen, without the spaces at the ends of lines.
#[cfg(test)]
pub(crate) fn shown(buffer: &ratatui::buffer::Buffer) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut x = buffer.area.left();
        while let Some(cell) = buffer.cell((x, y)) {
            line.push_str(cell.symbol());
            // A wide letter hides the cell behind it.
            x += crate::output::columns(cell.symbol()).max(1) as u16;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
