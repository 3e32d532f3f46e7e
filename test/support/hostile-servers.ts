import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Specs of VirtualMCPServers that were made to end or to hold up their reader, by what they do. */
export interface HostileServers {
  readonly specs: Readonly<Record<string, object>>;
  /** Exists when one of the modules in the folder was run. */
  readonly ranFile: string;
}

const COMMON = { groupRef: { name: 'group' }, incomingAuth: { type: 'anonymous' } };

/** Writes the modules of the specs into a folder. */
export function hostileServers(folder: string): HostileServers {
  const ranFile = join(folder, 'ran');
  const ran = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(ranFile)}, import.meta.url);\n`;
  const module = (name: string, code: string): string => {
    mkdirSync(join(folder, 'node_modules/@acme/evil'), { recursive: true });
    writeFileSync(join(folder, name), ran + code);
    return join(folder, name);
  };
  module('node_modules/@acme/evil/index.js', 'process.exit(9);');
  writeFileSync(
    join(folder, 'node_modules/@acme/evil/package.json'),
    '{ "name": "@acme/evil", "type": "module", "exports": "./index.js" }',
  );
  const uses = {
    'ends the process': module('exit.mjs', 'process.exit(7);'),
    'aborts the process': module('abort.mjs', 'process.abort();'),
    'kills the process': module('kill.mjs', "process.kill(process.pid, 'SIGKILL');"),
    'throws later': module('later.mjs', "setTimeout(() => { throw new Error('later'); });"),
    'rejects later': module('reject.mjs', "Promise.reject(new Error('rejected'));"),
    'never ends': module('loop.mjs', 'for (;;);'),
    'never resolves': module('wait.mjs', 'setInterval(() => {}, 1000);\nawait new Promise(() => {});'),
    'takes all memory': module('memory.mjs', 'for (const all = []; ; ) all.push(Buffer.alloc(1e8, 1));'),
    'changes built-in objects': module('prototype.mjs', 'Object.prototype.polluted = true;\nexport default {};'),
    'is an endless file': '/dev/zero',
    'shows a file by its syntax error': '/etc/passwd',
    'is a file beside the configuration': `../../../../../../../../../../${module('beside.mjs', 'process.exit(8);').slice(1)}`,
    'is a package': '@acme/evil',
    'is a program of an installed package': '/app/node_modules/js-yaml/bin/js-yaml.mjs',
    'is an address with code': 'data:text/javascript,process.exit(6)',
    'is a file address': `file://${join(folder, 'exit.mjs')}`,
    'is a module of Node': 'node:repl',
  };
  const deep = (depth: number): unknown => (depth === 0 ? 'x' : { a: deep(depth - 1) });
  const many = (count: number, make: (at: number) => unknown) => Array.from({ length: count }, (_, at) => make(at));
  const specs = {
    ...Object.fromEntries(
      Object.entries(uses).map(([what, use]) => [what, { ...COMMON, config: { plugins: [{ use }] } }]),
    ),
    'is nested deep': { ...COMMON, config: { plugins: [{ use: '/a.mjs', with: deep(500) }] } },
    'has a long address': { ...COMMON, config: { plugins: [{ use: `/${'a'.repeat(900_000)}.mjs` }] } },
    'has many plugins': { ...COMMON, config: { plugins: many(20_000, (at) => ({ use: `/plugins/${at}.mjs` })) } },
    'has large settings': { ...COMMON, config: { plugins: [{ use: '/a.mjs', with: { text: 'x'.repeat(900_000) } }] } },
    'gives a plugin many policies': {
      ...COMMON,
      config: {
        plugins: [
          { use: 'authorization/cedar', with: { policies: many(50_000, () => 'permit(principal, action, r);') } },
        ],
      },
    },
    'has many steps': {
      ...COMMON,
      config: { compositeTools: [{ name: 'f', steps: many(10_000, (at) => ({ id: `s${at}`, tool: 'x.y' })) }] },
    },
    'has a policy in parentheses': {
      ...COMMON,
      incomingAuth: {
        type: 'anonymous',
        authzConfig: {
          type: 'inline',
          inline: {
            policies: [`permit(principal, action, resource) when { ${'('.repeat(9_000)}true${')'.repeat(9_000)} };`],
          },
        },
      },
    },
  };
  return { specs, ranFile };
}
