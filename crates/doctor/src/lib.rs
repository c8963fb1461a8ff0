//! Checks an MCP server rule by rule, in every protocol revision, and says what is wrong.
