import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findPlugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { configTable } from './config-table.ts';
import { code, page, sentence, table } from './markdown.ts';
import { anchor } from './slots-page.ts';
import { ROOT } from './sources.ts';

/** docs/reference/plugins.md */
export async function pluginsPage(): Promise<string> {
  const addresses = Object.keys(catalogue).sort();
  const plugins = await Promise.all(
    addresses.map(async (address) => {
      return findPlugin(address, { catalogue, baseDir: ROOT });
    }),
  );
  return page('Plugins', 'the catalogue in `plugins/index.ts` and the configuration schema of each plugin', [
    'A plan uses a plugin by its address: `plugins: [{ use: ADDRESS, with: { … } }]`. A path (`./my-plugin.ts`) is a custom plugin with the same contract; see [writing a plugin](../guides/writing-a-plugin.md). Unknown keys are refused with the nearest known one. *Contract key* is the section of a vmcp file that configures this plugin.',
    table(
      ['plugin', 'stability', 'contract key', 'what it does'],
      plugins.map(({ address, stability, contractKey, summary }) => [
        `[${code(address)}](#${anchor(address)})`,
        stability ?? 'unmarked',
        code(contractKey ?? ''),
        sentence(summary ?? 'no summary'),
      ]),
    ),
    ...plugins.map(({ address, config, slotOptions, stability, contractKey, summary }) =>
      [
        `## ${address}`,
        sentence(summary ?? 'no summary'),
        [
          `- Stability: ${stability ?? 'unmarked'}`,
          ...(contractKey === undefined ? [] : [`- Contract key: ${code(contractKey)}`]),
          ...readme(address),
        ].join('\n'),
        configTable(config),
        ...Object.entries(slotOptions ?? {}).map(
          ([name, schema]) => `Options of one use of ${code(name)}:\n\n${configTable(schema)}`,
        ),
      ].join('\n\n'),
    ),
  ]);
}

function readme(address: string): readonly string[] {
  const path = `plugins/${address}/README.md`;
  return existsSync(join(ROOT, path)) ? [`- More: [${path}](../../${path})`] : [];
}
