import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalogue, findPlugin, type Plugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';

import { managerConfig } from '../../hosts/manager/manager-config.ts';
import { catalogue as managerCatalogue } from '../../hosts/manager/plan.ts';
import { configTable } from './config-table.ts';
import { code, page, sentence, table } from './markdown.ts';
import { familyOf, pluginLink } from './plugin-link.ts';
import { ROOT } from './sources.ts';

const SOURCE = 'the catalogue in `plugins/index.ts` and the configuration schema of each plugin';

/** docs/reference/plugins.md, and one page for each family: the first folder of the addresses. */
export async function pluginPages(): Promise<readonly (readonly [string, string])[]> {
  const [plugins, ofManager] = await Promise.all([catalogue, managerCatalogue].map(loadAll));
  if (plugins === undefined || ofManager === undefined) return [];
  const families = Map.groupBy(plugins, ({ address }) => familyOf(address));
  return [
    ['plugins.md', indexPage(plugins)],
    ['plugins/manager.md', managerPage(ofManager)],
    ...[...families].map(([family, members]): readonly [string, string] => [
      `plugins/${family}.md`,
      page(titleOf(family, members), SOURCE, [
        `Configuration of ${members.length === 1 ? 'the plugin' : 'the plugins'} ${members.map(({ address }) => code(address)).join(', ')}. [All plugins](../plugins.md).`,
        ...members.map(partOf),
      ]),
    ]),
  ];
}

function loadAll(all: Catalogue): Promise<readonly Plugin[]> {
  const addresses = Object.keys(all).sort();
  return Promise.all(addresses.map((address) => findPlugin(address, { catalogue: all, baseDir: ROOT })));
}

function managerPage(plugins: readonly Plugin[]): string {
  return page('Plugins of the manager', 'the catalogue in `hosts/manager/plan.ts` and the schema of each plugin', [
    'The plugins of `toolmgr serve`. It loads all of them; a file (`toolmgr serve --config FILE`, or `manager.yaml` beside `config.yaml`) adds plugins of your own, takes others in their place, leaves some out and gives options. [A plugin of the manager](../../guides/manager-plugins.md) shows how to write one.',
    '## The file',
    configTable(managerConfig),
    ...plugins.map(partOf),
  ]);
}

function titleOf(family: string, members: readonly Plugin[]): string {
  return members.length === 1 ? `Plugin ${members[0]?.address}` : `Plugins ${family}/*`;
}

function indexPage(plugins: readonly Plugin[]): string {
  return page('Plugins', SOURCE, [
    'All plugins that come with toolmgr. A plan uses a plugin by its address: `plugins: [{ use: ADDRESS, with: { … } }]`. A path (`./my-plugin.ts`) is a custom plugin with the same contract; see [writing a plugin](../guides/writing-a-plugin.md). Unknown keys are refused with the nearest known one. *Contract key* is the section of a [vmcp file](vmcp.md) that configures this plugin.',
    table(
      ['plugin', 'stability', 'contract key', 'what it does'],
      plugins.map(({ address, stability, contractKey, summary }) => [
        `[${code(address)}](${pluginLink(address)})`,
        stability ?? '',
        code(contractKey ?? ''),
        sentence(summary ?? ''),
      ]),
    ),
    '[Plugins of the manager](plugins/manager.md) are in a catalogue of their own.',
  ]);
}

function partOf({ address, config, slotOptions, stability, contractKey, summary }: Plugin): string {
  return [
    `## ${address}`,
    sentence(summary ?? ''),
    [
      `- Stability: ${stability}`,
      ...(contractKey === undefined ? [] : [`- Contract key: ${code(contractKey)}`]),
      ...readme(address),
    ].join('\n'),
    configTable(config),
    ...Object.entries(slotOptions ?? {}).map(
      ([name, schema]) => `Options of one use of ${code(name)}:\n\n${configTable(schema)}`,
    ),
  ].join('\n\n');
}

function readme(address: string): readonly string[] {
  const path = `plugins/${address}/README.md`;
  return existsSync(join(ROOT, path)) ? [`- More: [${path}](../../../${path})`] : [];
}
