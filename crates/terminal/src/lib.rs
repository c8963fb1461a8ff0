//! Terminal client of any MCP server: the commands, what they print, and shell completion.
