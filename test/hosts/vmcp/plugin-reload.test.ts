import { cp, mkdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect } from 'vitest';
import type { ReadConfig } from '../../../hosts/vmcp/read-config.ts';
import { type ConfigSource, followFile } from '../../../hosts/vmcp/serve/config-source.ts';
import { createPluginModules } from '../../../hosts/vmcp/serve/plugin-modules.ts';
import { type RunningCli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('plugin-reload');
});

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Refuses each request with the words of all its files, so that an answer shows which code runs. */
const entry = (word: string): string => `
  import imported from './imported.ts';
  import { required } from './required.cjs';
  import data from './data.json' with { type: 'json' };
  import packaged from 'packaged';
  export default {
    address: 'words',
    config: { safeParse: (value) => ({ success: true, data: value }) },
    apply: (core) => core.hooks.authenticate.tapPromise({ name: 'words', stage: -100 }, async () => {
      const { later } = await import('./later.ts');
      const reason = ['${word}', imported, required, data.word, later, packaged].join(' ');
      return { refused: true, status: 401, reason };
    }),
  };`;

const FIRST = {
  'words.ts': entry('entry1'),
  'imported.ts': "export default 'imported1' satisfies string;",
  'required.cjs': "exports.required = require('./deep.cjs');",
  'deep.cjs': "module.exports = 'deep1';",
  'data.json': '{ "word": "data1" }',
  'later.ts': "export const later: string = 'later1';",
  'node_modules/packaged/package.json': '{ "name": "packaged", "type": "module", "exports": "./main.js" }',
  'node_modules/packaged/main.js': "export default 'packaged1';",
};

const writeFileWith = (more: object = {}) => writeVmcpFile(folder, {}, { plugins: [{ use: './words.ts' }], ...more });

async function serving(): Promise<{ running: RunningCli; said(): Promise<string> }> {
  await put(FIRST);
  await writeFileWith();
  const running = startCli(['vmcp', 'serve', '-c', join(folder, 'vmcp.yaml'), '--port', '0', '--log-format', 'json']);
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  return { running, said: async () => (await fetch(url, { method: 'POST' })).text() };
}

const reloads = (running: RunningCli): number => (running.err().match(/configuration reloaded.*\n/g) ?? []).length;

async function reload(running: RunningCli): Promise<void> {
  const before = reloads(running);
  running.signal('SIGHUP');
  await until(() => reloads(running) > before);
}

const codeLines = (running: RunningCli): readonly object[] =>
  (running.err().match(/^\{.*the changed code of plugins is used.*$/gm) ?? []).map(
    (line) => JSON.parse(line) as object,
  );

describe('a reload of a file with a plugin of its own', () => {
  proves(
    'choice.reload.plugin-code',
    'uses the changed code of the plugin and of the files that it imports, and names them',
    async () => {
      const { running, said } = await serving();
      await using _ = running;
      expect(await said()).toContain('entry1 imported1 deep1 data1 later1 packaged1');

      await reload(running);
      expect(codeLines(running)).toEqual([]);
      let round = 0;
      for (const [path, before] of [
        ['imported.ts', 'imported1'],
        ['deep.cjs', 'deep1'],
        ['data.json', 'data1'],
        ['later.ts', 'later1'],
        ['words.ts', 'entry1'],
      ] as const) {
        const after = before.replace('1', '2');
        await put({ [path]: FIRST[path].replace(before, after) });
        await reload(running);
        expect(await said()).toContain(after);
        round++;
        await until(() => codeLines(running).length === round);
        expect(codeLines(running).at(-1)).toMatchObject({ files: [join(folder, path)] });
      }
      expect(await said()).toContain('entry2 imported2 deep2 data2 later2 packaged1');
    },
  );

  proves(
    'choice.reload.plugin-code',
    'uses it too when the file is edited, keeps the previous code when the new one is broken, and loads it once it is whole',
    async () => {
      const { running, said } = await serving();
      await using _ = running;
      await put({
        'words.ts': entry('entry2').replace('./imported.ts', './absent.ts'),
      });
      await writeFileWith({ metadata: { edited: 'yes' } });
      await running.printed(/the changed file is not used.*absent\.ts/);
      expect(await said()).toContain('entry1 imported1');

      await put({ 'absent.ts': "export default 'added2';" });
      await reload(running);
      expect(await said()).toContain('entry2 added2');
    },
  );

  proves(
    'choice.reload.plugin-code-on-save',
    'uses it when the file is saved with the same text or replaced by a link',
    async () => {
      const { running, said } = await serving();
      await using _ = running;
      const file = join(folder, 'vmcp.yaml');
      const saves = [
        () => utimes(file, new Date(), new Date()),
        async () => writeFile(file, await readFile(file)),
        async () => {
          await cp(file, join(folder, 'data.yaml'));
          await symlink('data.yaml', join(folder, 'next'));
          await rename(join(folder, 'next'), file);
        },
      ];
      for (const [at, save] of saves.entries()) {
        await put({ 'words.ts': entry(`saved${at}`) });
        await save();
        await until(() => codeLines(running).length === at + 1);
        expect(await said()).toContain(`saved${at}`);
      }
    },
  );

  proves('choice.reload.plugin-code-on-save', 'reads and logs nothing when neither text nor code changed', async () => {
    const file = await writeFileWith();
    const modules = createPluginModules();
    let checks = 0;
    const refresh = () => {
      checks++;
      return modules.refresh();
    };
    const done: string[] = [];
    const follow: ConfigSource['follow'] = {
      ...{ file, text: await readFile(file, 'utf8') },
      modules: { ...modules, refresh },
      read: async () => Promise.reject(new Error('read')),
    };
    const note = (line: string) => void done.push(line);
    const log = { debug: note, info: note, warn: note, error: note };
    const stop = new AbortController();
    followFile({ follow }, stop.signal, log, () => expect.unreachable());
    await utimes(file, new Date(), new Date());
    await until(() => checks === 1);
    await setImmediate();
    expect(done).toEqual([]);

    await writeFileWith({ metadata: { edited: 'yes' } });
    await until(() => done.length === 1);
    stop.abort();
  });

  proves(
    'choice.reload.plugin-code-on-save',
    'names the changed code once it is used, also when the file was found half written in between',
    async () => {
      const file = await writeFileWith();
      const whole = await readFile(file, 'utf8');
      const changes = [{ isLoadDue: true, reloaded: ['words.ts'], stale: [] }];
      const refresh = () => changes.pop() ?? { isLoadDue: false, reloaded: [], stale: [] };
      const done: unknown[] = [];
      const follow: ConfigSource['follow'] = {
        ...{ file, text: whole, modules: { ...createPluginModules(), refresh } },
        read: async (text) => (text === whole ? ({} as ReadConfig) : Promise.reject(new Error('half'))),
      };
      const note = (line: string, more?: object) => void done.push([line, more]);
      const log = { debug: note, info: note, warn: note, error: note };
      const stop = new AbortController();
      followFile({ follow }, stop.signal, log, async () => void done.push('taken'));
      await writeFile(file, '');
      await until(() => done.length === 1);
      expect(done).toEqual([[expect.stringContaining('is not used'), { cause: 'half' }]]);
      await writeFile(file, whole);
      await until(() => done.includes('taken'));
      await setImmediate();
      stop.abort();
      expect(done.slice(1)).toEqual(['taken', ['the changed code of plugins is used', { files: ['words.ts'] }]]);
    },
  );

  proves(
    'choice.reload.plugin-code-on-save',
    'names the file and the line of changed code that cannot be loaded, and uses it once it is mended and the file is saved again',
    async () => {
      const { running, said } = await serving();
      await using _ = running;
      const file = join(folder, 'vmcp.yaml');
      await put({ 'words.ts': "\nimport { gone } from './imported.ts';\nexport default gone;" });
      await utimes(file, new Date(), new Date());
      const [line] = await running.printed(/the changed file is not used.*/);
      expect(line).toMatch(/words\.ts:2: SyntaxError/);
      expect(await said()).toContain('entry1');

      await put({ 'words.ts': entry('mended') });
      await utimes(file, new Date(), new Date());
      await until(() => codeLines(running).length === 1);
      expect(await said()).toContain('mended');
    },
  );

  proves(
    'choice.reload.plugin-packages',
    'says that a package which the plugin imports changed, and that a restart uses it',
    async () => {
      const { running, said } = await serving();
      await using _ = running;
      await put({ 'node_modules/packaged/main.js': "export default 'packaged2';" });
      await reload(running);
      await running.printed(/"warn".*only a restart uses.*packaged\/main\.js/);
      expect(await said()).toContain('packaged1');
    },
  );
});
