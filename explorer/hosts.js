// What a person pastes into a host so that it uses the server at an address.

/** @typedef {{ id: string, title: string, file: string, text: string }} HostEntry */

/**
 * @param {string} url
 * @param {string} token
 * @param {string} [name]
 * @returns {HostEntry[]}
 */
export function hostEntries(url, token, name = "refdesk") {
  const bearer = token ? `Bearer ${token}` : "";
  const headers = bearer ? { headers: { Authorization: bearer } } : {};
  const json = (/** @type {any} */ value) => JSON.stringify(value, null, 2);
  const header = bearer ? ` --header "Authorization: ${bearer}"` : "";
  const toml = [`[mcp_servers.${name}]`, `url = ${JSON.stringify(url)}`];
  if (bearer) toml.push(`http_headers = { Authorization = ${JSON.stringify(bearer)} }`);
  return [
    { id: "claude", title: "Claude Code", file: "", text: `claude mcp add --transport http ${name} ${url}${header}` },
    { id: "codex", title: "Codex", file: "~/.codex/config.toml", text: toml.join("\n") },
    {
      id: "gemini",
      title: "Gemini CLI",
      file: "~/.gemini/settings.json",
      text: json({ mcpServers: { [name]: { httpUrl: url, ...headers } } }),
    },
    {
      id: "vscode",
      title: "VS Code",
      file: ".vscode/mcp.json",
      text: json({ servers: { [name]: { type: "http", url, ...headers } } }),
    },
    {
      id: "cursor",
      title: "Cursor",
      file: ".cursor/mcp.json",
      text: json({ mcpServers: { [name]: { url, ...headers } } }),
    },
  ];
}
