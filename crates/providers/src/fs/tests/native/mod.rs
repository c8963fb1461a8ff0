//! Tests of what only the native file API has: inotify, and knowledge of the disk.

mod health;
mod inotify_limits;
mod stat_cache;
