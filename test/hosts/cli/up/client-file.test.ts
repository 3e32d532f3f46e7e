// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of client files look like this
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readClientFile } from '../../../../hosts/cli/up/client-file.ts';
import { clientFilePaths, findClientFile } from '../../../../hosts/cli/up/find-file.ts';
import { parseJsonWithComments } from '../../../../hosts/cli/up/json-with-comments.ts';
import { proves } from '../../../support/proves.ts';

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
    const folder = await mkdtemp(join(tmpdir(), 'toolmgr-env-'));
    await writeFile(join(folder, '.env'), 'A=from file\nB="quoted"\n# no\n');
    const { backends } = await read(
      { mcpServers: { a: { command: 'x', envFile: '${workspaceFolder}/.env', env: { A: 'from env' } } } },
      { folder },
    );
    expect(backends[0]?.command?.env).toEqual({ A: 'from env', B: 'quoted' });
    await rm(folder, { recursive: true });
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
  it('takes the first file of the usual places', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolmgr-find-'));
    const files = clientFilePaths(folder, folder, {});
    expect(await findClientFile(files)).toBeUndefined();
    await writeFile(join(folder, 'mcp.json'), '{}');
    expect(await findClientFile(files)).toBe(join(folder, 'mcp.json'));
    await writeFile(join(folder, '.mcp.json'), '{}');
    expect(await findClientFile(files)).toBe(join(folder, '.mcp.json'));
    await rm(folder, { recursive: true });
  });
});
