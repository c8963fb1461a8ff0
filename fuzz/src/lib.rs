//! Fuzz targets: functions that panic if a parser of refdesk is wrong about an input.
//!
//! What other crates keep private has its targets in the tests of those crates: the readers of
//! `client`, the cursors and ignore files of `providers`, the settings of `cli`.

mod targets;

use testkit::FuzzTarget;

/// All targets.
pub const TARGETS: &[FuzzTarget] = &[
    targets::conversation::TARGET,
    targets::cursor::TARGET,
    targets::frame::TARGET,
    targets::glob::TARGET,
    targets::template::TARGET,
    targets::upstream::TARGET,
    targets::uri::TARGET,
    targets::window::TARGET,
];
