import type { ClientRow, EntryTransport, HeaderForm, Platform, SkillFolders, UserPath } from './client-row.ts';

const everywhere = (path: UserPath): Readonly<Record<Platform, UserPath>> => ({
  linux: path,
  darwin: path,
  win32: path,
});
const onWindows = (path: UserPath, win32: UserPath): Readonly<Record<Platform, UserPath>> => ({
  linux: path,
  darwin: path,
  win32,
});
const always = (field: string): Readonly<Record<EntryTransport, string>> => ({ 'streamable-http': field, sse: field });
const type = (http: string, sse = 'sse', name = 'type') => ({ name, 'streamable-http': http, sse });
const headers = (before: string, after: string, path: readonly string[] = ['headers']): HeaderForm => ({
  form: 'pattern',
  path,
  before,
  after,
});
const NO_HEADERS: HeaderForm = { form: 'none' };

const skillsIn = (folder: string, project = folder): SkillFolders => ({
  user: everywhere(['home', ...folder.split('/'), 'skills']),
  project: [...project.split('/'), 'skills'],
});
const SHARED_SKILLS = skillsIn('.agents');

const JSON_SERVERS = {
  format: 'json',
  key: 'mcpServers',
  shape: 'map',
  urlField: always('url'),
  headers: NO_HEADERS,
  supportsPlugins: false,
  installedBy: 'folder',
} as const;
const TYPED_SERVERS = { ...JSON_SERVERS, typeField: type('http') } as const;

const EXTENSIONS_OF_CODE = ['Code', 'User', 'globalStorage'] as const;

/**
 * Every client, in the order in which they are listed.
 *
 * Source: reference workload-api §4.9. Headers are from the documentation of each client: `none` where it describes no reference
 * to a variable.
 */
export const CLIENT_TABLE = {
  vscode: {
    ...TYPED_SERVERS,
    title: 'Visual Studio Code',
    file: everywhere(['data', 'Code', 'User', 'mcp.json']),
    key: 'servers',
    headers: headers('${env:', '}'),
    skills: skillsIn('.copilot', '.github'),
  },
  'vscode-insider': {
    ...TYPED_SERVERS,
    title: 'Visual Studio Code Insiders',
    file: everywhere(['data', 'Code - Insiders', 'User', 'mcp.json']),
    key: 'servers',
    headers: headers('${env:', '}'),
    skills: skillsIn('.copilot', '.github'),
  },
  'vscode-server': {
    ...JSON_SERVERS,
    title: 'Visual Studio Code Server',
    file: everywhere(['home', '.vscode-server', 'data', 'User', 'mcp.json']),
    key: 'servers',
    headers: headers('${env:', '}'),
  },
  cursor: {
    ...TYPED_SERVERS,
    title: 'Cursor',
    file: everywhere(['home', '.cursor', 'mcp.json']),
    headers: headers('${env:', '}'),
    skills: skillsIn('.cursor'),
  },
  'claude-code': {
    ...TYPED_SERVERS,
    title: 'Claude Code',
    file: everywhere(['home', '.claude.json']),
    headers: headers('${', '}'),
    skills: skillsIn('.claude'),
    supportsPlugins: true,
    installedBy: 'file',
  },
  cline: {
    ...JSON_SERVERS,
    title: 'Cline',
    file: everywhere(['data', ...EXTENSIONS_OF_CODE, 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json']),
    typeField: type('streamableHttp'),
    skills: skillsIn('.cline'),
  },
  'roo-code': {
    ...JSON_SERVERS,
    title: 'Roo Code',
    deprecated: true,
    file: everywhere(['data', ...EXTENSIONS_OF_CODE, 'rooveterinaryinc.roo-cline', 'settings', 'mcp_settings.json']),
    typeField: type('streamable-http'),
    headers: headers('${env:', '}'),
    skills: skillsIn('.roo'),
  },
  windsurf: {
    ...TYPED_SERVERS,
    title: 'Windsurf',
    file: everywhere(['home', '.codeium', 'windsurf', 'mcp_config.json']),
    urlField: always('serverUrl'),
    headers: headers('${env:', '}'),
    skills: skillsIn('.codeium/windsurf', '.windsurf'),
  },
  'windsurf-jetbrains': {
    ...TYPED_SERVERS,
    title: 'Windsurf for JetBrains',
    file: everywhere(['home', '.codeium', 'mcp_config.json']),
    urlField: always('serverUrl'),
    headers: headers('${env:', '}'),
  },
  'amp-cli': {
    ...TYPED_SERVERS,
    title: 'Amp',
    file: onWindows(['home', '.config', 'amp', 'settings.json'], ['data', 'amp', 'settings.json']),
    key: 'amp.mcpServers', // one member with this name
    headers: headers('${', '}'),
    skills: SHARED_SKILLS,
  },
  'lm-studio': {
    ...TYPED_SERVERS,
    title: 'LM Studio',
    file: everywhere(['home', '.lmstudio', 'mcp.json']),
  },
  goose: {
    title: 'Goose',
    file: onWindows(['config', 'goose', 'config.yaml'], ['home', 'AppData', 'Block', 'goose', 'config.yaml']),
    format: 'yaml',
    key: 'extensions',
    shape: 'map',
    urlField: always('uri'),
    typeField: type('streamable_http'),
    further: { name: '', enabled: true, timeout: 60, description: '' },
    headers: NO_HEADERS,
    skills: SHARED_SKILLS,
    supportsPlugins: false,
    installedBy: 'folder',
  },
  trae: {
    ...JSON_SERVERS,
    title: 'Trae',
    file: everywhere(['data', 'Trae', 'User', 'mcp.json']),
    skills: SHARED_SKILLS,
  },
  continue: {
    title: 'Continue',
    file: everywhere(['home', '.continue', 'config.yaml']),
    format: 'yaml',
    key: 'mcpServers',
    shape: 'list',
    urlField: always('url'),
    typeField: type('streamable-http'),
    further: { name: '' },
    headers: headers('${{ secrets.', ' }}', ['requestOptions', 'headers']),
    supportsPlugins: false,
    installedBy: 'folder',
  },
  opencode: {
    ...JSON_SERVERS,
    title: 'OpenCode',
    file: everywhere(['config', 'opencode', 'opencode.json']),
    key: 'mcp',
    typeField: type('remote', 'remote'),
    headers: headers('{env:', '}'),
    skills: {
      user: { linux: ['config', 'opencode', 'skills'], darwin: ['config', 'opencode', 'skills'] },
      project: ['.opencode', 'skills'],
    },
  },
  kiro: {
    ...JSON_SERVERS,
    title: 'Kiro',
    file: everywhere(['home', '.kiro', 'settings', 'mcp.json']),
    headers: headers('${', '}'),
    skills: skillsIn('.kiro'),
  },
  antigravity: {
    ...JSON_SERVERS,
    title: 'Antigravity',
    file: everywhere(['home', '.gemini', 'antigravity', 'mcp_config.json']),
    urlField: always('serverUrl'),
    skills: SHARED_SKILLS,
  },
  zed: {
    ...JSON_SERVERS,
    title: 'Zed',
    file: onWindows(['config', 'zed', 'settings.json'], ['data', 'zed', 'settings.json']),
    key: 'context_servers',
  },
  'gemini-cli': {
    ...JSON_SERVERS,
    title: 'Gemini CLI',
    file: everywhere(['home', '.gemini', 'settings.json']),
    urlField: { 'streamable-http': 'httpUrl', sse: 'url' },
    headers: headers('${', '}'),
    skills: SHARED_SKILLS,
  },
  'mistral-vibe': {
    title: 'Mistral Vibe',
    file: everywhere(['home', '.vibe', 'config.toml']),
    format: 'toml',
    key: 'mcp_servers',
    shape: 'list',
    urlField: always('url'),
    typeField: type('streamable-http', 'http', 'transport'),
    further: { name: '' },
    headers: { form: 'vibe' },
    skills: skillsIn('.vibe'),
    supportsPlugins: false,
    installedBy: 'folder',
  },
  codex: {
    title: 'Codex',
    file: everywhere(['home', '.codex', 'config.toml']),
    format: 'toml',
    key: 'mcp_servers',
    shape: 'map',
    urlField: always('url'),
    headers: { form: 'codex' },
    skills: SHARED_SKILLS,
    supportsPlugins: true,
    installedBy: 'folder',
  },
  'kimi-cli': {
    ...JSON_SERVERS,
    title: 'Kimi CLI',
    file: everywhere(['home', '.kimi', 'mcp.json']),
    skills: skillsIn('.kimi'),
  },
  factory: {
    ...TYPED_SERVERS,
    title: 'Factory',
    file: everywhere(['home', '.factory', 'mcp.json']),
    headers: headers('${', '}'),
    skills: skillsIn('.factory'),
  },
  'copilot-cli': {
    ...TYPED_SERVERS,
    title: 'GitHub Copilot CLI',
    file: everywhere(['home', '.copilot', 'mcp-config.json']),
    headers: headers('${', '}'),
  },
  qoder: {
    ...TYPED_SERVERS,
    title: 'Qoder',
    file: onWindows(['home', '.qoder', 'mcp.json'], ['data', 'Qoder', 'SharedClientCache', 'mcp.json']),
    skills: skillsIn('.qoder'),
  },
} as const satisfies Readonly<Record<string, ClientRow>>;

/** A name of the table. */
export type ClientType = keyof typeof CLIENT_TABLE;

/** All names, in the order in which they are listed. */
export const CLIENT_TYPES = Object.keys(CLIENT_TABLE) as readonly ClientType[];

/** The row of a client. */
export function clientRow(name: ClientType): ClientRow {
  return CLIENT_TABLE[name];
}

/** Whether a text is the name of a client. */
export function isClientType(name: string): name is ClientType {
  return Object.hasOwn(CLIENT_TABLE, name);
}
