import { contextforge } from './contextforge/start.ts';
import type { Peer } from './peer.ts';

const NO_AUTH = 'no authentication, errors only in the log, no audit';

/** This gateway, from its build; not in `PEERS`, because it is always measured. */
export const TOOLMGR: Peer = {
  language: 'TypeScript',
  version: 'this checkout',
  source: 'https://www.npmjs.com/package/toolmgr',
  settings: `The file of ToolHive; ${NO_AUTH}`,
  install: [],
  start: [
    process.execPath,
    '--',
    '{root}/hosts/dist/cli/main.js',
    ...[
      'vmcp',
      'serve',
      '--config',
      '{root}/test/bench/peers/toolhive/{backends}.yaml',
      '--host',
      '127.0.0.1',
      '--port',
      '{port}',
    ],
  ],
  path: '/mcp',
  ports: { one: 4500, three: 4510 },
};

/** By the name of `--peer` and of the folder with the configuration. */
export const PEERS: Readonly<Record<string, Peer>> = {
  toolhive: {
    language: 'Go',
    version: '0.47.0',
    source: 'https://github.com/stacklok/toolhive',
    settings: `The program vmcp; names with a prefix; ${NO_AUTH}`,
    install: [['go', 'install', '-trimpath', '-ldflags', '-s -w', 'github.com/stacklok/toolhive/cmd/vmcp@v0.47.0']],
    start: [
      '{home}/bin/vmcp',
      'serve',
      '--config',
      '{files}/{backends}.yaml',
      '--host',
      '127.0.0.1',
      '--port',
      '{port}',
    ],
    path: '/mcp',
    ports: { one: 4501, three: 4511 },
  },
  'mcp-proxy': {
    language: 'Rust',
    version: '0.6.0',
    source: 'https://crates.io/crates/mcp-proxy',
    settings: `Default features; ${NO_AUTH}`,
    install: [['cargo', 'install', '--locked', '--root', '{home}', 'mcp-proxy@0.6.0']],
    start: ['{home}/bin/mcp-proxy', '--config', '{files}/{backends}.toml'],
    path: '/',
    ports: { one: 4503, three: 4513 },
  },
  fastmcp: {
    language: 'Python',
    version: '4.1.2',
    source: 'https://pypi.org/project/fastmcp/',
    settings: 'The proxy of fastmcp run with defaults; errors only in the log',
    install: [
      ['python3', '-m', 'venv', '{home}'],
      ['{home}/bin/pip', 'install', '--quiet', '--no-input', '-r', '{files}/requirements.txt'],
    ],
    start: [
      ...['{home}/bin/fastmcp', 'run', '{files}/{backends}.json', '--transport', 'http', '--host', '127.0.0.1'],
      ...['--port', '{port}', '--no-banner', '--log-level', 'ERROR'],
    ],
    path: '/mcp',
    ports: { one: 4502, three: 4512 },
  },
  contextforge,
};
