//! Tests of the converter of spreadsheets.
