/** How one client is configured for an endpoint: where the text belongs, and the text. */
export interface ClientConfiguration {
  readonly client: string;
  readonly place: string;
  readonly text: string;
}

/** Text to paste for each client. `name` is that of the endpoint; characters that no client accepts are replaced. */
export function clientConfigurations(name: string, url: string): readonly ClientConfiguration[] {
  const key = name.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '') || 'toolmgr';
  const json = (member: string, entry: object): string => JSON.stringify({ [member]: { [key]: entry } }, undefined, 2);
  return [
    { client: 'Claude Code', place: 'a terminal', text: `claude mcp add --transport http ${key} ${url}` },
    {
      client: 'Claude Desktop',
      place: 'claude_desktop_config.json; it starts programs only, so mcp-remote connects it',
      text: json('mcpServers', { command: 'npx', args: ['-y', 'mcp-remote', url] }),
    },
    { client: 'Cursor', place: '~/.cursor/mcp.json', text: json('mcpServers', { url }) },
    { client: 'VS Code', place: '.vscode/mcp.json', text: json('servers', { type: 'http', url }) },
    { client: 'Windsurf', place: '~/.codeium/windsurf/mcp_config.json', text: json('mcpServers', { serverUrl: url }) },
    { client: 'Zed', place: 'settings.json', text: json('context_servers', { url }) },
    { client: 'Codex', place: '~/.codex/config.toml', text: `[mcp_servers.${key}]\nurl = ${JSON.stringify(url)}` },
    { client: 'Others', place: 'a file with mcpServers', text: json('mcpServers', { type: 'http', url }) },
  ];
}
