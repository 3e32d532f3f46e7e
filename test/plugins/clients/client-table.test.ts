import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CLIENT_TYPES,
  clientRow,
  configPath,
  installedClients,
  isClientType,
  projectSkillFolder,
  supportsSkills,
  type UserPlace,
  userPlace,
  userSkillFolder,
} from '@toolmgr/plugins/clients';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const linux: UserPlace = { platform: 'linux', home: '/home/ada', env: {} };
const mac: UserPlace = { platform: 'darwin', home: '/Users/ada', env: {} };
const windows: UserPlace = { platform: 'win32', home: 'C:\\Users\\ada', env: {} };

describe('the table of clients', () => {
  it('has the 25 clients in the order in which they are listed', () => {
    expect(CLIENT_TYPES.join(' ')).toBe(
      'vscode vscode-insider vscode-server cursor claude-code cline roo-code windsurf windsurf-jetbrains amp-cli lm-studio goose ' +
        'trae continue opencode kiro antigravity zed gemini-cli mistral-vibe codex kimi-cli factory copilot-cli qoder',
    );
  });

  it('gives the configuration file of each client on Linux', () => {
    const paths = CLIENT_TYPES.map((type) => `${type} ${configPath(type, linux)}`).join('\n');
    expect(paths).toMatchInlineSnapshot(`
      "vscode /home/ada/.config/Code/User/mcp.json
      vscode-insider /home/ada/.config/Code - Insiders/User/mcp.json
      vscode-server /home/ada/.vscode-server/data/User/mcp.json
      cursor /home/ada/.cursor/mcp.json
      claude-code /home/ada/.claude.json
      cline /home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json
      roo-code /home/ada/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json
      windsurf /home/ada/.codeium/windsurf/mcp_config.json
      windsurf-jetbrains /home/ada/.codeium/mcp_config.json
      amp-cli /home/ada/.config/amp/settings.json
      lm-studio /home/ada/.lmstudio/mcp.json
      goose /home/ada/.config/goose/config.yaml
      trae /home/ada/.config/Trae/User/mcp.json
      continue /home/ada/.continue/config.yaml
      opencode /home/ada/.config/opencode/opencode.json
      kiro /home/ada/.kiro/settings/mcp.json
      antigravity /home/ada/.gemini/antigravity/mcp_config.json
      zed /home/ada/.config/zed/settings.json
      gemini-cli /home/ada/.gemini/settings.json
      mistral-vibe /home/ada/.vibe/config.toml
      codex /home/ada/.codex/config.toml
      kimi-cli /home/ada/.kimi/mcp.json
      factory /home/ada/.factory/mcp.json
      copilot-cli /home/ada/.copilot/mcp-config.json
      qoder /home/ada/.qoder/mcp.json"
    `);
  });

  it('gives the configuration file of each client on macOS', () => {
    const paths = CLIENT_TYPES.map((type) => `${type} ${configPath(type, mac)}`).join('\n');
    expect(paths).toMatchInlineSnapshot(`
      "vscode /Users/ada/Library/Application Support/Code/User/mcp.json
      vscode-insider /Users/ada/Library/Application Support/Code - Insiders/User/mcp.json
      vscode-server /Users/ada/.vscode-server/data/User/mcp.json
      cursor /Users/ada/.cursor/mcp.json
      claude-code /Users/ada/.claude.json
      cline /Users/ada/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json
      roo-code /Users/ada/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json
      windsurf /Users/ada/.codeium/windsurf/mcp_config.json
      windsurf-jetbrains /Users/ada/.codeium/mcp_config.json
      amp-cli /Users/ada/.config/amp/settings.json
      lm-studio /Users/ada/.lmstudio/mcp.json
      goose /Users/ada/.config/goose/config.yaml
      trae /Users/ada/Library/Application Support/Trae/User/mcp.json
      continue /Users/ada/.continue/config.yaml
      opencode /Users/ada/.config/opencode/opencode.json
      kiro /Users/ada/.kiro/settings/mcp.json
      antigravity /Users/ada/.gemini/antigravity/mcp_config.json
      zed /Users/ada/.config/zed/settings.json
      gemini-cli /Users/ada/.gemini/settings.json
      mistral-vibe /Users/ada/.vibe/config.toml
      codex /Users/ada/.codex/config.toml
      kimi-cli /Users/ada/.kimi/mcp.json
      factory /Users/ada/.factory/mcp.json
      copilot-cli /Users/ada/.copilot/mcp-config.json
      qoder /Users/ada/.qoder/mcp.json"
    `);
  });

  it('gives the configuration file of each client on Windows', () => {
    const paths = CLIENT_TYPES.map((type) => `${type} ${configPath(type, windows)}`).join('\n');
    expect(paths).toMatchInlineSnapshot(`
      "vscode C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json
      vscode-insider C:\\Users\\ada\\AppData\\Roaming\\Code - Insiders\\User\\mcp.json
      vscode-server C:\\Users\\ada\\.vscode-server\\data\\User\\mcp.json
      cursor C:\\Users\\ada\\.cursor\\mcp.json
      claude-code C:\\Users\\ada\\.claude.json
      cline C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\globalStorage\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json
      roo-code C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\globalStorage\\rooveterinaryinc.roo-cline\\settings\\mcp_settings.json
      windsurf C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json
      windsurf-jetbrains C:\\Users\\ada\\.codeium\\mcp_config.json
      amp-cli C:\\Users\\ada\\AppData\\Roaming\\amp\\settings.json
      lm-studio C:\\Users\\ada\\.lmstudio\\mcp.json
      goose C:\\Users\\ada\\AppData\\Block\\goose\\config.yaml
      trae C:\\Users\\ada\\AppData\\Roaming\\Trae\\User\\mcp.json
      continue C:\\Users\\ada\\.continue\\config.yaml
      opencode C:\\Users\\ada\\.config\\opencode\\opencode.json
      kiro C:\\Users\\ada\\.kiro\\settings\\mcp.json
      antigravity C:\\Users\\ada\\.gemini\\antigravity\\mcp_config.json
      zed C:\\Users\\ada\\AppData\\Roaming\\zed\\settings.json
      gemini-cli C:\\Users\\ada\\.gemini\\settings.json
      mistral-vibe C:\\Users\\ada\\.vibe\\config.toml
      codex C:\\Users\\ada\\.codex\\config.toml
      kimi-cli C:\\Users\\ada\\.kimi\\mcp.json
      factory C:\\Users\\ada\\.factory\\mcp.json
      copilot-cli C:\\Users\\ada\\.copilot\\mcp-config.json
      qoder C:\\Users\\ada\\AppData\\Roaming\\Qoder\\SharedClientCache\\mcp.json"
    `);
  });

  it('gives the folders of skills', () => {
    const folders = CLIENT_TYPES.filter(supportsSkills).map(
      (type) => `${type} ${userSkillFolder(type, linux)} ${projectSkillFolder(type)}`,
    );
    expect(folders.join('\n')).toMatchInlineSnapshot(`
      "vscode /home/ada/.copilot/skills .github/skills
      vscode-insider /home/ada/.copilot/skills .github/skills
      cursor /home/ada/.cursor/skills .cursor/skills
      claude-code /home/ada/.claude/skills .claude/skills
      cline /home/ada/.cline/skills .cline/skills
      roo-code /home/ada/.roo/skills .roo/skills
      windsurf /home/ada/.codeium/windsurf/skills .windsurf/skills
      amp-cli /home/ada/.agents/skills .agents/skills
      goose /home/ada/.agents/skills .agents/skills
      trae /home/ada/.agents/skills .agents/skills
      opencode /home/ada/.config/opencode/skills .opencode/skills
      kiro /home/ada/.kiro/skills .kiro/skills
      antigravity /home/ada/.agents/skills .agents/skills
      gemini-cli /home/ada/.agents/skills .agents/skills
      mistral-vibe /home/ada/.vibe/skills .vibe/skills
      codex /home/ada/.agents/skills .agents/skills
      kimi-cli /home/ada/.kimi/skills .kimi/skills
      factory /home/ada/.factory/skills .factory/skills
      qoder /home/ada/.qoder/skills .qoder/skills"
    `);
    expect(userSkillFolder('opencode', windows)).toBeUndefined();
    expect(supportsSkills('zed')).toBe(false);
  });

  it('honours XDG_CONFIG_HOME and APPDATA, and ignores relative ones', () => {
    const xdg = { ...linux, env: { XDG_CONFIG_HOME: '/etc/ada' } };
    expect(configPath('zed', xdg)).toBe('/etc/ada/zed/settings.json');
    expect(configPath('vscode', xdg)).toBe('/etc/ada/Code/User/mcp.json');
    expect(configPath('cursor', xdg)).toBe('/home/ada/.cursor/mcp.json');
    expect(configPath('vscode', { ...linux, env: { XDG_CONFIG_HOME: '../x' } })).toBe(
      '/home/ada/.config/Code/User/mcp.json',
    );
    expect(configPath('trae', { ...windows, env: { APPDATA: 'D:\\Roaming' } })).toBe(
      'D:\\Roaming\\Trae\\User\\mcp.json',
    );
    expect(userPlace({ HOME: 'relative' }, 'linux', '/home/ada').home).toBe('/home/ada');
    expect(userPlace({ USERPROFILE: 'C:\\Users\\b' }, 'win32', 'C:\\Users\\a').home).toBe('C:\\Users\\b');
  });

  it('offers agent plugins for two clients only', () => {
    expect(CLIENT_TYPES.filter((type) => clientRow(type).supportsPlugins)).toEqual(['claude-code', 'codex']);
  });

  it('knows no client by a name of the language', () => {
    for (const name of ['__proto__', 'constructor', 'toString', '', 'Cursor', 'claude-desktop', 'xcode'])
      expect(isClientType(name)).toBe(false);
  });
});

describe('detection', () => {
  const home = temporaryFolderOfFile('clients');
  beforeAll(async () => {
    await mkdir(join(home, '.cursor'));
    await mkdir(join(home, '.claude'));
  });

  it('finds a client by the folder of its file, and Claude Code by the file itself', async () => {
    const place = { platform: 'linux', home, env: {} } as const;
    expect(await installedClients(CLIENT_TYPES, place)).toEqual(['cursor']);
    await writeFile(join(home, '.claude.json'), '{}');
    expect(await installedClients(CLIENT_TYPES, place)).toEqual(['cursor', 'claude-code']);
  });
});
