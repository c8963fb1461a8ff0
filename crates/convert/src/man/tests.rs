//! Tests of the converter of manual pages.
