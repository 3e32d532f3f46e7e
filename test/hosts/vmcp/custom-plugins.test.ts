import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { namedFileChecks } from '../../../hosts/cli/doctor/named-file-checks.ts';
import { cli as cliProcess, startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { hidePackage } from '../../support/hide-package.ts';
import { SOURCE_SESSION } from '../../support/program.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LONG = 120_000;
const REFUSING = `
  import { z } from ${JSON.stringify(import.meta.resolve('zod'))};
  export default {
    address: 'refuse',
    config: z.strictObject({ word: z.string().default('no') }),
    apply: (core, { word }) => core.hooks.authorize.tap('refuse', () => ({ refused: true, status: 403, reason: word })),
  };`;
let folder: string;
const cli = cliSession();
beforeEach(() => {
  folder = temporaryFolder('custom');
});

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Line 8 is `use`, line 9 `with`. */
const gatewayOf = (use: string, given: object = {}, backends: object[] = []): string =>
  `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: {}
backends: ${JSON.stringify(backends)}
plugins:
  - use: ${JSON.stringify(use)}
    with: ${JSON.stringify(given)}
`;

/** Output of each command that reads a file, run from another folder. */
async function saidOf(use: string, given: object = {}): Promise<string> {
  await put({ 'vmcp.yaml': gatewayOf(use, given) });
  const file = join(folder, 'vmcp.yaml');
  const commands = [
    ['validate', '--load-plugins'],
    ['plan', '--load-plugins'],
    ['serve', '--port', '0'],
  ];
  const ended = await Promise.all(commands.map((words) => cli(['vmcp', ...words, '-c', file])));
  const [first = ''] = ended.map(({ err }) => err);
  for (const { code, err } of ended) expect([code, err]).toEqual([1, first]);
  return first.replaceAll(`${folder}/`, '');
}

describe('a custom plugin that cannot be used', () => {
  proves(
    'ask.custom-plugin.told-with-line',
    'is reported by validate, plan and serve in the same way, with the line of the file and the cause',
    async () => {
      await put({
        'syntax.mjs': "export default {\n  address: 'x'\n  config: 1,\n};",
        'syntax.ts': 'export default {\n  apply(core { }\n};',
        'throws.mjs': 'const nothing = undefined;\nnothing.there();\nexport default {};',
        'needs.mjs': "import there from 'not-there-at-all';\nexport default there;",
        'package.json': '{ "dependencies": { "not-there-at-all": "^2.1.0" } }',
        'empty.mjs': 'export default { address: 1 };',
        'notes.txt': 'no module',
        'refuse.mjs': REFUSING,
      });
      expect(await saidOf('./refusee.mjs')).toBe(
        'toolmgr: vmcp.yaml:8: plugins[0].use: there is no file refusee.mjs, did you mean refuse.mjs?\n',
      );
      expect(await saidOf('./syntax.mjs')).toContain('vmcp.yaml:8: plugins[0].use: syntax.mjs:3: SyntaxError: ');
      expect(await saidOf('./syntax.ts')).toContain('vmcp.yaml:8: plugins[0].use: syntax.ts:2: SyntaxError: ');
      expect(await saidOf('./throws.mjs')).toContain('throws.mjs:2: TypeError: Cannot read properties of undefined');
      expect(await saidOf('./needs.mjs')).toContain(
        'the package not-there-at-all, which needs.mjs imports, is not installed; install it: npm install not-there-at-all@^2.1.0',
      );
      expect(await saidOf('./empty.mjs')).toContain('the default export of empty.mjs must be a plugin');
      expect(await saidOf('./notes.txt')).toContain('notes.txt is not a JavaScript or TypeScript module');
      expect(await saidOf('.')).toContain('no plugin has the address .');
      expect(await saidOf('./')).toContain('is a folder; name the file in it');
      expect(await saidOf('./refuse.mjs', { words: 'x' })).toBe(
        'toolmgr: vmcp.yaml:9: plugins[0].with.words: unknown key "words", did you mean "word"?\n',
      );
      expect(await saidOf('./refuse.mjs', { word: 7 })).toContain(
        'vmcp.yaml:9: plugins[0].with.word: expected a string, got a number',
      );
    },
    LONG,
  );

  proves(
    'ask.start.cause-shown',
    'shows the cause once when the start fails',
    async () => {
      await put({
        'fails.mjs': `export default {
          address: 'fails',
          config: { safeParse: () => ({ success: true, data: {} }) },
          apply: (core) => core.hooks.starting.tapPromise('fails', async () => {
            throw new Error('the vault is shut', { cause: new Error('its key is bent') });
          }),
        };`,
        'vmcp.yaml': gatewayOf('./fails.mjs'),
      });
      const { code, err } = await cliProcess(['vmcp', 'serve', '-c', join(folder, 'vmcp.yaml'), '--port', '0']);
      expect([code, err]).toEqual([
        1,
        'toolmgr: fails failed in starting\n  because: the vault is shut\n  because: its key is bent\n',
      ]);
    },
    LONG,
  );

  proves(
    'ask.custom-plugin.not-called-valid',
    'is refused by validate with the words of the start, and validate says what it does not check',
    async () => {
      const own = (apply: string): string =>
        `export default { address: 'own', config: { safeParse: () => ({ success: true, data: {} }) }, apply: ${apply} };`;
      const withoutAuth = gatewayOf('./own.mjs').replace('incomingAuth: { type: anonymous }\n', '');
      await put({ 'own.mjs': own('() => {}'), 'vmcp.yaml': withoutAuth });
      const file = join(folder, 'vmcp.yaml');
      const [validated, served, unloaded, asJson] = await Promise.all([
        cli(['vmcp', 'validate', '-c', file, '--load-plugins']),
        cli(['vmcp', 'serve', '-c', file, '--port', '0']),
        cli(['vmcp', 'validate', '-c', file]),
        cli(['vmcp', 'validate', '-c', file, '--format', 'json']),
      ]);
      expect(unloaded).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/incoming auth +not checked\n/) });
      expect(unloaded.out).toMatch(/^\S+vmcp\.yaml: no problem found; not called valid, because plugins/);
      expect(unloaded.out).toContain('  not checked    whether a plugin authenticates callers');
      expect(unloaded.out).not.toContain('is valid');
      expect(JSON.parse(asJson.out)).toMatchObject({ valid: null, incomingAuth: 'not checked' });
      expect(validated).toMatchObject({ code: 1, err: expect.stringContaining('none of them authenticates callers') });
      expect(served).toEqual(validated);

      const opens = "(core) => core.hooks.starting.tapPromise('own', async () => { throw new Error('opened'); })";
      const header = '{ headerName: X-Key, headerValueEnv: TOOLMGR_TEST_UNSET }';
      const inline = `{ source: inline, default: { type: header_injection, headerInjection: ${header} } }`;
      await put({
        'opens.mjs': own(opens),
        'vmcp.yaml': gatewayOf('./opens.mjs').replace('{ source: inline }', inline),
      });
      const { code, out } = await cli(['vmcp', 'validate', '-c', file, '--load-plugins', '--format', 'json']);
      expect([code, JSON.parse(out).notChecked]).toEqual([
        0,
        [
          expect.stringContaining('the environment variable TOOLMGR_TEST_UNSET is not set'),
          'what these plugins do at the start: own',
          'names of tools (--connect checks them)',
        ],
      ]);
    },
    LONG,
  );

  it(
    'may check its configuration without zod, and the file gets its message',
    async () => {
      await put({
        'own.mjs': `export default {
          address: 'own',
          config: { safeParse: () => ({ success: false, error: new Error('expected a moon') }) },
          apply() {},
        };`,
      });
      expect(await saidOf('./own.mjs')).toBe('toolmgr: vmcp.yaml:9: plugins[0].with: expected a moon\n');
    },
    LONG,
  );
});

describe('a check of a file', () => {
  proves(
    'ask.custom-plugin.not-run-by-checks',
    'runs no file and no package that it names, says so, and accepts what only these read',
    async () => {
      const ran = `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(join(folder, 'ran'))}, '');\n`;
      await put({
        'own.mjs': `${ran}${REFUSING}`,
        'node_modules/@acme/evil/package.json': '{ "name": "@acme/evil", "exports": "./main.mjs" }',
        'node_modules/@acme/evil/main.mjs': `${ran}process.exit(7);`,
      });
      const isRun = () => existsSync(join(folder, 'ran'));
      const file = join(folder, 'vmcp.yaml');
      const inline = '{ source: inline, default: { type: signed_by_us, signedByUs: { key: a } } }';
      for (const use of ['./own.mjs', join(folder, 'own.mjs'), '@acme/evil']) {
        const text = gatewayOf(use, { words: 1 }).replace('{ source: inline }', inline);
        await put({ 'vmcp.yaml': `${text}businessHours: { open: 9 }\n` });
        const validated = await cli(['vmcp', 'validate', '-c', file]);
        expect(validated).toMatchObject({ code: 0, err: '', out: expect.not.stringContaining('is valid') });
        for (const part of [`${use} is not loaded (--load-plugins`, 'the section businessHours', 'what a start says']) {
          expect(validated.out).toContain(`  not checked    ${part}`);
        }
        const planned = await cli(['vmcp', 'plan', '-c', file]);
        expect(planned).toMatchObject({
          code: 0,
          err: expect.stringContaining(`make of the file: ${use} (--load-plugins`),
        });
        const connected = await cli(['vmcp', 'validate', '-c', file, '--connect']);
        expect(connected).toMatchObject({ code: 1, err: expect.stringContaining('add --load-plugins') });
        // not the whole command, whose checks have 3 s
        const [doctor] = namedFileChecks([file]);
        expect(await doctor?.run(AbortSignal.timeout(LONG))).toContainEqual(
          expect.objectContaining({ says: expect.stringContaining(`are loaded; not loaded: ${use} (`) }),
        );
        expect(isRun()).toBe(false);
      }
      await put({ 'vmcp.yaml': gatewayOf('./own.mjs', { words: 1 }) });
      const loaded = await cli(['vmcp', 'validate', '-c', file, '--load-plugins']);
      expect(loaded).toMatchObject({ code: 1, err: expect.stringContaining('did you mean "word"?') });
      expect(isRun()).toBe(true);
    },
    LONG,
  );
});

describe('a plugin in a package', () => {
  proves(
    'ask.custom-plugin.by-package',
    'is used by its name, found from the folder of the file, and its configuration is checked',
    async () => {
      await using server = await recordingServer();
      const manifest = (name: string, exports: unknown) => JSON.stringify({ name, type: 'module', exports });
      await put({
        // a package that only supports import, so `require` cannot resolve it
        'node_modules/toolmgr-plugin-refuse/package.json': manifest('toolmgr-plugin-refuse', { import: './main.js' }),
        'node_modules/toolmgr-plugin-refuse/main.js': REFUSING,
        'node_modules/@acme/plugins/package.json': manifest('@acme/plugins', { './refuse': './refuse.js' }),
        'node_modules/@acme/plugins/refuse.js': REFUSING,
        'node_modules/typed/package.json': manifest('typed', './index.ts'),
        'node_modules/typed/index.ts': REFUSING,
      });
      expect(await saidOf('toolmgr-plugin-refuse', { words: '' })).toContain('did you mean "word"?');
      expect(await saidOf('@acme/plugins')).toContain('No "exports" main defined');
      expect(await saidOf('typed')).toContain('typed/index.ts is TypeScript inside node_modules');
      expect(await saidOf('agregation')).toContain('no plugin has the address agregation, did you mean "aggregation"?');
      expect(await saidOf('toolmgr-plugin-absent')).toContain('no package of that name is installed for');
      expect(await saidOf('fs')).toContain('no plugin has the address fs');

      const backends = [{ name: 'one', url: server.url, transport: 'streamable-http' }];
      for (const use of ['toolmgr-plugin-refuse', '@acme/plugins/refuse']) {
        await put({ 'vmcp.yaml': gatewayOf(use, { word: `said by ${use}` }, backends) });
        await using running = startCli(['vmcp', 'serve', '-c', join(folder, 'vmcp.yaml'), '--port', '0'], { cwd: '/' });
        const [, url = ''] = await running.printed(/serves (http:\S+)/);
        const called = await cli(['call', 'one_echo', '--url', url]);
        expect(called.err).toContain(`said by ${use} (403)`);
      }
      expect(server.calls).toEqual([]);
    },
    LONG,
  );
});

describe('a missing package of a first-party plugin', () => {
  const bare = cliSession(SOURCE_SESSION); // it is said which package imports the missing one
  const NEEDS: Readonly<Record<string, [wanted: string, section: object]>> = {
    ioredis: ['ioredis@6', { sessionStorage: { provider: 'redis', address: '127.0.0.1:1' } }],
    ajv: ['ajv@8', { compositeTools: [{ name: 'x', steps: [{ id: 's', tool: 'a.b' }] }] }],
    'quickjs-emscripten-core': ['quickjs-emscripten-core@0.32', { codeMode: { enabled: true } }],
    '@opentelemetry/sdk-trace': [
      '@opentelemetry/sdk-trace@3',
      { telemetry: { tracingEnabled: true, endpoint: '127.0.0.1:1' } },
    ],
    '@cedar-policy/cedar-wasm': [
      '@cedar-policy/cedar-wasm@4',
      {
        incomingAuth: {
          type: 'anonymous',
          authz: { type: 'cedar', policies: ['permit(principal, action, resource);'] },
        },
      },
    ],
    jose: [
      'jose@6',
      { incomingAuth: { type: 'oidc', oidc: { issuer: 'https://127.0.0.1:1', clientId: 'a', audience: 'b' } } },
    ],
  };

  proves(
    'ask.start.peer-install',
    'is reported by the start with the command that installs the right version',
    async () => {
      const head = {
        name: 'dev',
        groupRef: 'dev',
        incomingAuth: { type: 'anonymous' },
        outgoingAuth: { source: 'inline' },
      };
      for (const [name, [wanted, section]] of Object.entries(NEEDS)) {
        await put({ 'vmcp.yaml': stringify({ ...head, aggregation: {}, ...section }) });
        const served = ['vmcp', 'serve', '-c', join(folder, 'vmcp.yaml'), '--port', '0'];
        const { code, err } = await bare(served, { env: hidePackage(name) });
        expect([code, err]).toEqual([
          1,
          expect.stringMatching(
            `: the optional package ${name} is not installed; install it: npm install .*${wanted}\\b`,
          ),
        ]);
      }
    },
    LONG,
  );
});
