//! Schema of the `[render]` table: limits of conversions, and what they give.

use std::num::{NonZeroU16, NonZeroUsize};
use std::time::Duration;

use convert::Options;
use serde::Deserialize;

use super::units::{ByteSize, TimeSpan};
use crate::conversion::ConvertLimits;
use crate::state_file::cache_folder;

/// The `[render]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RenderSettings {
    memory: Option<ByteSize>,
    time: Option<TimeSpan>,
    at_once: Option<NonZeroU16>,
    cache: Option<bool>,
    cache_size: Option<ByteSize>,
    thumbnail: Option<NonZeroU16>,
    table_rows: Option<NonZeroU16>,
    table_columns: Option<NonZeroU16>,
    position: bool,
}

/// The least memory of a conversion: the program itself takes some.
const LEAST_MEMORY: u64 = 128 << 20;

impl RenderSettings {
    /// The limits: the defaults, overridden by the settings.
    pub(crate) fn limits(&self) -> ConvertLimits {
        let usual = Options::default();
        let number = |said: Option<NonZeroU16>, usual| said.map_or(usual, |n| usize::from(n.get()));
        let size = self.cache_size.map_or(512 << 20, |size| size.0);
        ConvertLimits {
            memory: self.memory.map_or(1 << 30, |size| size.0.max(LEAST_MEMORY)),
            time: self.time.map_or(Duration::from_secs(10), |span| span.0),
            at_once: self.at_once.map(NonZeroUsize::from),
            cache: cache_folder("forms")
                .filter(|_| self.cache.unwrap_or(true))
                .map(|path| (path, size)),
            options: Options {
                thumbnail_pixels: self.thumbnail.map_or(usual.thumbnail_pixels, |n| n.get().into()),
                max_table_rows: number(self.table_rows, usual.max_table_rows),
                max_table_columns: number(self.table_columns, usual.max_table_columns),
                with_position: self.position,
                ..usual
            },
        }
    }
}
