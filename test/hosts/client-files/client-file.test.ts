// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of client files look like this

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { userPlace } from '@toolmgr/plugins/clients';
import { describe, expect, it } from 'vitest';
import { readClientFile } from '../../../hosts/client-files/client-file.ts';
import { clientPlaces, findClientFiles } from '../../../hosts/client-files/find-file.ts';
import { joinFiles } from '../../../hosts/client-files/join-files.ts';
import { parseJsonWithComments } from '../../../hosts/client-files/json-with-comments.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const around = { env: { TOKEN: 't0ken', EMPTY: '' }, home: '/home/ada', folder: '/project' };
const read = (value: object | string, more: Partial<typeof around> = {}) =>
  readClientFile(typeof value === 'string' ? value : JSON.stringify(value), 'mcp.json', { ...around, ...more });
const servers = (mcpServers: object) => read({ mcpServers });

describe('a client configuration file', () => {
  proves('ask.up.commands', 'converts commands to stdio backends with their exact argv', async () => {
    const { backends, notes } = await servers({
      files: { command: 'npx', args: ['-y', 'pkg', 'a b', '$HOME;*'], env: { LEVEL: 'x', N: 5 } },
      local: { command: './bin/server', cwd: 'sub' },
    });
    expect(backends).toEqual([
      {
        name: 'files',
        transport: 'stdio',
        command: { file: 'npx', args: ['-y', 'pkg', 'a b', '$HOME;*'], env: { LEVEL: 'x', N: '5' }, cwd: '/project' },
      },
      {
        name: 'local',
        transport: 'stdio',
        command: { file: '/project/sub/bin/server', args: [], env: {}, cwd: '/project/sub' },
      },
    ]);
    expect(notes).toEqual([]);
  });

  proves('ask.up.urls', 'converts URLs to remote backends, with separate headers', async () => {
    const { backends, headers } = await servers({
      a: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${env:TOKEN}', 'X-B': 'b' } },
      b: { type: 'sse', url: 'https://b.example/events' },
      c: { url: 'https://c.example/sse' },
      d: { type: 'http', url: 'https://d.example/sse' },
    });
    expect(backends).toEqual([
      { name: 'a', transport: 'streamable-http', url: 'https://a.example/mcp', type: 'entry' },
      { name: 'b', transport: 'sse', url: 'https://b.example/events', type: 'entry' },
      { name: 'c', transport: 'sse', url: 'https://c.example/sse', type: 'entry' },
      { name: 'd', transport: 'streamable-http', url: 'https://d.example/sse', type: 'entry' },
    ]);
    expect(headers).toEqual(new Map([['a', { authorization: 'Bearer t0ken', 'x-b': 'b' }]]));
    expect(JSON.stringify(backends)).not.toContain('t0ken');
  });

  proves('choice.era.up', 'may set the era of a server', async () => {
    const { backends, notes } = await servers({
      old: { command: 'x', era: 'legacy' },
      new: { url: 'https://n.example/mcp', era: 'modern' },
      odd: { command: 'x', era: '2025-11-25' },
    });
    expect(backends.map(({ name, era }) => [name, era])).toEqual([
      ['old', 'legacy'],
      ['new', 'modern'],
    ]);
    expect(notes).toEqual(['odd: left out, its "era" is "2025-11-25": expected auto, legacy, modern']);
  });

  proves('ask.up.shapes', 'may be written by Claude, Cursor or VS Code', async () => {
    const one = { command: 'server' };
    const names = async (value: object | string) => (await read(value)).backends.map(({ name }) => name);
    expect(await names({ mcpServers: { claude: one }, globalShortcut: 'x' })).toEqual(['claude']);
    expect(await names({ servers: { code: { type: 'stdio', ...one } }, inputs: [] })).toEqual(['code']);
    expect(await names({ mcp: { servers: { settings: one } }, 'editor.fontSize': 12 })).toEqual(['settings']);
    expect(await names('{\n  // mine\n  "mcpServers": { "cursor": { "command": "x", /* y */ }, },\n}')).toEqual([
      'cursor',
    ]);
    expect(await names({ mcpServers: { windsurf: { serverUrl: 'https://w.example/mcp' } } })).toEqual(['windsurf']);
  });

  it('expands variables like clients', async () => {
    const { backends } = await servers({
      a: {
        command: '${workspaceFolder}/bin',
        args: [
          '${userHome}',
          '${workspaceFolderBasename}',
          '${TOKEN}',
          '${NOPE:-plan b}',
          '${env:TOKEN}',
          '$TOKEN',
          '${}',
        ],
      },
    });
    expect(backends[0]?.command).toMatchObject({
      file: '/project/bin',
      args: ['/home/ada', 'project', 't0ken', 'plan b', 't0ken', '$TOKEN', '${}'],
    });
  });

  it('reads an envFile, and env overrides it', async () => {
    const folder = temporaryFolder('env');
    await writeFile(join(folder, '.env'), 'A=from file\nB="quoted"\n# no\n');
    const { backends } = await read(
      { mcpServers: { a: { command: 'x', envFile: '${workspaceFolder}/.env', env: { A: 'from env' } } } },
      { folder },
    );
    expect(backends[0]?.command?.env).toEqual({ A: 'from env', B: 'quoted' });
  });

  it.each([
    ['a disabled server', { command: 'x', disabled: true }, /^a: left out, it is disabled in the file$/],
    ['one that is not enabled', { command: 'x', enabled: false }, /^a: left out, it is disabled/],
    [
      'a variable that is not set',
      { command: 'x', env: { K: '${env:MISSING}' } },
      /^a: left out, the environment variable MISSING is not set$/,
    ],
    ['a variable that is empty', { url: 'https://a/mcp', headers: { K: '${EMPTY}' } }, /variable EMPTY is empty/],
    [
      'an input that only an editor asks for',
      { command: 'x', args: ['${input:key}'] },
      /\$\{input:key\} needs an editor that prompts for it/,
    ],
    ['neither command nor url', { args: [] }, /neither "command" nor "url"/],
    ['an unknown transport', { type: 'websocket', url: 'ws://x' }, /transport "websocket" is unknown/],
    ['a URL of another kind', { url: 'ws://x' }, /not an http\(s\) URL/],
    ['arguments that are no list', { command: 'x', args: 'y' }, /"args" must be a list of texts/],
    ['a header with a line break', { url: 'https://a/mcp', headers: { K: 'a\r\nb' } }, /header "k" cannot be sent/],
    [
      'an envFile that is not there',
      { command: 'x', envFile: '/no/such/.env' },
      /envFile \/no\/such\/.env cannot be read/,
    ],
    ['text in place of a server', 'x', /expected an object/],
  ])('leaves out %s with a note, and serves the others', async (_what, server, note) => {
    const { backends, notes } = await servers({ a: server, ok: { command: 'ok' } });
    expect(backends.map(({ name }) => name)).toEqual(['ok']);
    expect(notes).toEqual([expect.stringMatching(note)]);
  });

  it('notes settings of the client that have no effect here', async () => {
    const { notes } = await servers({ a: { command: 'x', alwaysAllow: ['y'], autoApprove: ['z'] } });
    expect(notes).toEqual([
      'a: "alwaysAllow" is a setting of the client and has no effect here',
      'a: "autoApprove" is a setting of the client and has no effect here',
    ]);
  });

  it('creates unique names that are valid as prefixes of tool names', async () => {
    const { backends, notes } = await servers({
      'My Server!': { command: 'x' },
      'My-Server': { command: 'y' },
      日本: { command: 'z' },
    });
    expect(backends.map(({ name }) => name)).toEqual(['My-Server', 'My-Server-2', 'server']);
    expect(notes).toHaveLength(3);
  });

  it.each([
    ['{', /mcp\.json:1:2: not JSON: close brace expected/],
    ['{}', /mcp\.json: there are no servers: expected \{"mcpServers"/],
    ['[]', /there are no servers/],
  ])('refuses %s with a sentence', async (text, sentence) => {
    await expect(read(text)).rejects.toThrow(sentence);
  });
});

describe('the timeout of a server', () => {
  proves('ask.up.timeout', 'is seconds up to an hour, milliseconds above, or a duration', async () => {
    const { backends, notes } = await servers({
      seconds: { command: 'x', timeout: 90 },
      hour: { url: 'https://a.example/mcp', timeout: 3_600 },
      milliseconds: { command: 'x', timeout: 600_000 },
      duration: { command: 'x', timeout: '5m' },
      none: { command: 'x' },
    });
    expect(backends.map(({ timeoutMs }) => timeoutMs)).toEqual([90_000, 3_600_000, 600_000, 300_000, undefined]);
    expect(notes).toEqual([
      'seconds: its "timeout" 90 is read as seconds',
      'hour: its "timeout" 3600 is read as seconds',
    ]);
  });

  it.each([0, -5, '5', 'soon', true, null, 86_400_001, '25h'])('reports that %j has no effect', async (timeout) => {
    const { backends, notes } = await servers({ a: { command: 'x', timeout } });
    expect(backends[0]).not.toHaveProperty('timeoutMs');
    expect(notes).toEqual([expect.stringMatching(/^a: its "timeout" .* has no effect, expected seconds up to 3600/)]);
  });
});

describe('JSON with comments', () => {
  it.each([
    ['{"a": 1, // one\n "b": 2}', { a: 1, b: 2 }],
    ['{"a": [1, 2, /* three */ ], }', { a: [1, 2] }],
    ['{"url": "http://x//y", "c": "/* no */", "q": "\\"//"}', { url: 'http://x//y', c: '/* no */', q: '"//' }],
    ['\uFEFF{"a": ",]"}', { a: ',]' }],
    ['null // nothing', null],
  ])('reads %j', (text, value) => {
    expect(parseJsonWithComments(text, 'mcp.json')).toEqual(value);
  });

  it.each([
    ['{"a": 1,, }', '1:9: not JSON: property name expected'],
    ['{,}x', '1:2: not JSON: value expected'],
    ['{"a": 1 // open', '1:16: not JSON: close brace expected'],
    ['[1 /* open', '1:4: not JSON: unexpected end of comment'],
    ['{\n  "a": s3cret\n}', '2:8: not JSON: invalid symbol'],
    ['\uFEFF{\r\n"a" 1}', '2:5: not JSON: colon expected'],
    ['{} {}', '1:4: not JSON: end of file expected'],
    ['', '1:1: not JSON: value expected'],
  ])('reports the position of the error in %j, without its text', (text, problem) => {
    expect(() => parseJsonWithComments(text, 'mcp.json')).toThrow(
      expect.objectContaining({ message: `mcp.json:${problem}` }),
    );
  });

  it('keeps a key that is the name of a prototype as data', () => {
    const value = parseJsonWithComments('{"__proto__": {"command": "x"}}', 'mcp.json') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value).not.toHaveProperty('command');
  });
});

describe('the search for the file', () => {
  it('takes the first file with servers, all files of a client, or all files', async () => {
    const folder = temporaryFolder('find');
    const [home, project] = [join(folder, 'home'), join(folder, 'project')];
    const places = clientPlaces(project, userPlace({ HOME: home }, 'linux', home));
    const hasServers = ({ text }: { text: string }): boolean => text !== '{}';
    const find = async (choice: Parameters<typeof findClientFiles>[1]) => {
      const { used, others } = await findClientFiles(places, choice, hasServers);
      return [used.map(({ file }) => relative(folder, file)), others.map((file) => relative(folder, file))];
    };
    await expect(find({})).rejects.toThrow(
      /no client configuration with servers was found.* Give one: toolmgr up FILE$/,
    );
    const forInit = findClientFiles(places, { client: 'cursor' }, hasServers, 'vmcp init --from FILE');
    await expect(forInit).rejects.toThrow(/no configuration of cursor .* Give one: toolmgr vmcp init --from FILE$/);
    const files = [
      'project/.vscode/mcp.json',
      'home/.claude.json',
      'home/.config/Claude/claude_desktop_config.json',
      'home/.config/Code/User/mcp.json',
      'home/.codeium/windsurf/mcp_config.json',
      'home/.config/zed/settings.json',
      'home/.codex/config.toml',
    ];
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), 'x');
    }
    await mkdir(project, { recursive: true });
    await writeFile(join(project, '.mcp.json'), '{}');
    expect(await find({})).toEqual([files.slice(0, 1), files.slice(1)]);
    expect(await find({ all: true })).toEqual([files, []]);
    expect(await find({ client: 'vscode' })).toEqual([[files[0], files[3]], []]);
    await expect(find({ client: 'cursor' })).rejects.toThrow('no configuration of cursor with servers');
  });
});

describe('files of several clients', () => {
  it('are read in the form of Claude Code with its projects, Zed and Codex', async () => {
    const claude = {
      mcpServers: { all: { command: 'a' }, off: { command: 'b' } },
      projects: { '/project': { mcpServers: { own: { command: 'c' } }, disabledMcpServers: ['off'] }, '/other': {} },
    };
    const names = async (read: Awaited<ReturnType<typeof readClientFile>>) => read.backends.map(({ name }) => name);
    expect(await names(await read(claude))).toEqual(['all', 'own']);
    expect((await read(claude)).notes).toEqual(['off: left out, it is disabled in the file']);

    const zed = {
      context_servers: { old: { command: { path: 'x', args: ['y'], env: { A: 'b' } } }, new: { command: 'z' } },
    };
    expect((await read(zed)).backends.map(({ command }) => [command?.file, command?.args])).toEqual([
      ['x', ['y']],
      ['z', []],
    ]);

    const codex = [
      '[mcp_servers.remote]',
      'url = "https://r.example/mcp"',
      'bearer_token_env_var = "TOKEN"',
      'tool_timeout_sec = 45',
      '[mcp_servers.local]',
      'command = "run"',
      'env_vars = ["TOKEN"]',
    ].join('\n');
    const { backends, headers } = await readClientFile(codex, 'config.toml', around);
    expect(headers.get('remote')).toEqual({ authorization: 'Bearer t0ken' });
    expect(backends.map(({ timeoutMs }) => timeoutMs)).toEqual([45_000, undefined]);
    expect(backends[1]?.command?.env).toEqual({ TOKEN: 't0ken' });
    await expect(readClientFile('a = "s3cret', 'config.toml', around)).rejects.toThrow(
      /^config\.toml:1:\d+: not TOML$/,
    );
  });

  it('have what the products write: null, "local" of Copilot, variables that Codex passes on only when set', async () => {
    const zed = { context_servers: { a: { command: { path: 'x', args: null, env: null } } } };
    expect((await read(zed)).backends[0]?.command).toMatchObject({ file: 'x', args: [], env: {} });
    const code = { servers: { b: { type: 'stdio', command: 'x', env: { OFF: null, ON: 'y' } } } };
    expect((await read(code)).backends[0]?.command?.env).toEqual({ ON: 'y' });
    expect((await servers({ c: { type: 'local', command: 'x', args: [] } })).backends).toHaveLength(1);

    const codex = [
      '[mcp_servers.d]',
      'command = "run"',
      'env_vars = ["NOT_SET", "EMPTY", { name = "TOKEN", source = "local" }]',
      '[mcp_servers.e]',
      'url = "https://e.example/mcp"',
      'env_http_headers = { "X-A" = "NOT_SET", "X-B" = "TOKEN" }',
      '[mcp_servers.f]',
      'url = "https://f.example/mcp"',
      'bearer_token_env_var = "NOT_SET"',
    ].join('\n');
    const { backends, headers, notes } = await readClientFile(codex, 'config.toml', around);
    expect(backends.map(({ name, command }) => [name, command?.env])).toEqual([
      ['d', { TOKEN: 't0ken' }],
      ['e', undefined],
    ]);
    expect(headers).toEqual(new Map([['e', { 'x-b': 't0ken' }]]));
    expect(notes).toEqual(['f: left out, the environment variable NOT_SET is not set']);
  });

  it('say which of their variables are not expanded', async () => {
    const { backends, notes } = await servers({
      a: { httpUrl: 'https://a.example/mcp', headers: { Authorization: 'Bearer $TOKEN' } },
      b: { command: 'x', env: { KEY: '$TOKEN', PRICE: '5$' } },
      c: { serverUrl: 'https://c.example/mcp', headers: { Authorization: 'Bearer ${file:/secret}' } },
      d: { command: '${config:python.path}', args: ['${command:pick}'] },
    });
    expect(backends.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(notes).toEqual([
      'a: its "headers.Authorization" is used as written: a variable is written ${NAME}, not $NAME',
      'b: its "env.KEY" is used as written: a variable is written ${NAME}, not $NAME',
      'c: left out, ${file:/secret} is not supported here; write ${env:NAME} instead and export NAME',
      'd: left out, ${config:python.path} is not supported here; write ${env:NAME} instead and export NAME',
    ]);
  });

  it('are joined without servers that are the same and without toolmgr itself', async () => {
    const first = await servers({
      files: { command: 'npx', args: ['-y', 'pkg'] },
      loop: { command: 'npx', args: ['-y', 'toolmgr@1.0.0', 'up', '--stdio'] },
      clone: { command: 'node', args: ['/src/hosts/cli/main.ts', 'vmcp', 'serve'] },
      gateway: { url: 'http://localhost:4483/mcp' },
    });
    const second = await servers({
      again: { command: 'npx', args: ['-y', 'pkg'] },
      files: { url: 'https://f.example/mcp', headers: { 'X-A': 'a' } },
      run: { command: 'toolmgr', args: ['run', 'npx://pkg'] },
    });
    const joined = joinFiles(
      [
        { file: 'a.json', read: first },
        { file: 'b.json', read: second },
      ],
      4483,
    );
    expect(joined.backends.map(({ name }) => name)).toEqual(['files', 'files-2', 'run']);
    expect(joined.headers).toEqual(new Map([['files-2', { 'x-a': 'a' }]]));
    expect(joined.notes).toEqual([
      'a.json: loop: left out, it starts toolmgr itself',
      'a.json: clone: left out, it starts toolmgr itself',
      'a.json: gateway: left out, it is the address of this gateway, port 4483',
      'b.json: again: left out, files is the same server',
    ]);
  });
});
