import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { catalogue } from '@toolmgr/plugins';
import { beforeEach, describe, expect, it } from 'vitest';
import { planFromConfig } from '../../../hosts/vmcp/plan.ts';
import { readConfig, readConfigText } from '../../../hosts/vmcp/read-config.ts';
import { cli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ZOD = JSON.stringify(import.meta.resolve('zod'));
const HOURS = `
  import { z } from ${ZOD};
  export default {
    address: 'business-hours',
    contractKey: 'businessHours',
    config: z.strictObject({ open: z.string(), backend: z.string().optional(), store: z.string().optional() }),
    apply() {},
  };`;
/** The same with everything that a section can say. */
const FULL = `
  import { z } from ${ZOD};
  export default {
    address: 'business-hours',
    contractKey: 'businessHours',
    hasSwitch: true,
    config: z.strictObject({ open: z.string(), backend: z.string().optional(), store: z.string().optional() }),
    facts: () => ({ ownTools: ['opening_hours'] }),
    problems: ({ backend }, { backends }) =>
      backends.some(({ name }) => name === backend) ? [] : [{ path: ['backend'], message: 'is not listed' }],
    warnings: ({ open }) => (open === '24h' ? [{ path: ['open'], message: 'never closes' }] : []),
    fromContract: (section, { store }, use) =>
      section === undefined ? {} : { plugins: [{ use: 'stores/memory' }, { use, with: { store: store ?? 'memory', ...section } }] },
    apply() {},
  };`;
const BROKEN = `
  import { z } from ${ZOD};
  export default {
    address: 'x', contractKey: 'businessHours', config: z.strictObject({}), apply() {},
    fromContract() { throw new Error('no clock'); },
  };`;

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('section');
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

/** Line 7 is the first of `more`. */
const file = (use: string, more: string): string => `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: {}
plugins: [{ use: ${use} }]
${more}`;

const LOADS = { loadsPlugins: true };
const read = (text: string) => readConfig(text, join(folder, 'vmcp.yaml'), catalogue, LOADS);
const problems = (text: string): Promise<string> =>
  read(text).then(
    () => '',
    (cause: Error) => cause.message.replaceAll(`${folder}/`, ''),
  );
const uses = async (text: string) => planFromConfig(await read(text)).plugins.slice(-1);

describe('a plugin of the file with a contractKey', () => {
  proves(
    'ask.custom-plugin.own-section',
    'has a section at top level: a file or a package, with line and nearest key, in validate and plan',
    async () => {
      await put('hours.mjs', HOURS);
      await put('node_modules/toolmgr-plugin-hours/package.json', '{ "type": "module", "exports": "./main.js" }');
      await put('node_modules/toolmgr-plugin-hours/main.js', HOURS);
      for (const use of ['./hours.mjs', 'toolmgr-plugin-hours']) {
        expect(await uses(file(use, 'businessHours:\n  open: "09:00"\n'))).toEqual([{ use, with: { open: '09:00' } }]);
        expect(await problems(file(use, 'businessHours:\n  open: "09:00"\n  bakend: a\n'))).toBe(
          'vmcp.yaml:9: businessHours.bakend: unknown key "bakend", did you mean "backend"?',
        );
        expect(await problems(file(use, 'businessHours:\n  open: 9\n'))).toBe(
          'vmcp.yaml:8: businessHours.open: expected a string, got a number',
        );
        expect(await problems(file(use, 'busynessHours: { open: "9" }\n'))).toContain(
          'vmcp.yaml:7: busynessHours: unknown key "busynessHours", did you mean "businessHours"?',
        );
      }
      await put('vmcp.yaml', file('./hours.mjs', 'businessHours: { opn: "09:00" }\n'));
      for (const command of ['validate', 'plan']) {
        const { code, err } = await cli(['vmcp', command, '-c', join(folder, 'vmcp.yaml'), '--load-plugins']);
        expect([code, err]).toEqual([1, expect.stringContaining('vmcp.yaml:7: businessHours.opn: unknown key "opn"')]);
      }
    },
  );

  it('may bring a strategy towards backends, which the file names, with its options in camel case', async () => {
    const from = join(import.meta.dirname, '../../../examples/custom-strategy');
    const text = await readConfigText(join(from, 'vmcp.yaml'));
    const example = (changed: string) => readConfig(changed, join(from, 'vmcp.yaml'), catalogue, LOADS);
    const plan = planFromConfig(await example(text));
    expect(plan.outgoingAuth?.backends).toEqual({
      orders: { type: 'signed_requests', options: { keyEnv: 'ORDERS_KEY' } },
    });
    expect(plan.plugins.slice(-1)).toEqual([{ use: './signed-requests.ts' }]);
    await expect(example(text.replace('keyEnv:', 'keyEmv:'))).rejects.toThrow(
      /vmcp\.yaml:10: outgoingAuth\.backends\.orders\.signedRequests\.keyEmv: unknown key "keyEmv", did you mean "keyEnv"/,
    );
    await expect(example(text.replace('type: signed_requests', 'type: signed_request'))).rejects.toThrow(
      /orders\.type: expected one of .*signed_requests/,
    );
  });

  it('is configured by `with` where the file has no such section, and never by both', async () => {
    await put('hours.mjs', HOURS);
    const withOnly = file('./hours.mjs, with: { open: "08:00" }', '');
    expect(await uses(withOnly)).toEqual([{ use: './hours.mjs', with: { open: '08:00' } }]);
    expect(await problems(file('./hours.mjs', ''))).toBe(
      'vmcp.yaml:6: plugins[0].with.open: missing, expected a string',
    );
    expect(await problems(`${withOnly}businessHours: { open: "09:00" }\n`)).toBe(
      'vmcp.yaml:6: plugins[0].with: the section businessHours configures the plugin; remove one of the two',
    );
  });

  it('says what becomes of its section, and checks it against other sections', async () => {
    await put('hours.mjs', FULL);
    const section = (more: string) => file('./hours.mjs', `businessHours: { open: 24h, ${more} }\nbackends:\n`);
    const backends = '  - { name: crm, url: "http://a.test/mcp", transport: sse }\n';
    const good = await read(
      `${section('enabled: true, backend: crm')}${backends}sessionStorage: { provider: memory }\n`,
    );
    expect(good.warnings.map((line) => line.replace(`${folder}/`, ''))).toEqual([
      'vmcp.yaml:7: businessHours.open: never closes',
    ]);
    expect(planFromConfig(good).plugins.slice(-1)).toEqual([
      { use: './hours.mjs', with: { store: 'memory', open: '24h', backend: 'crm' } },
    ]);
    expect(planFromConfig(good).plugins.filter(({ use }) => use === 'stores/memory')).toHaveLength(1);
    const off = planFromConfig(await read(`${section('backend: crm')}${backends}`));
    expect(off.plugins.map(({ use }) => use)).not.toContain('./hours.mjs');
    expect(await problems(`${section('enabled: true, backend: cmr')}${backends}`)).toBe(
      'vmcp.yaml:7: businessHours.backend: is not listed',
    );
  });

  it('cannot take the key of another section, or one that is no name', async () => {
    await put('hours.mjs', HOURS);
    await put('again.mjs', HOURS);
    for (const key of ['audit', 'plugins', 'incomingAuth', 'operational']) {
      await put(`${key}.mjs`, HOURS.replace('businessHours', key));
      expect(await problems(file(`./${key}.mjs`, ''))).toContain(
        `vmcp.yaml:6: plugins[0].use: its contractKey "${key}" is the key of another section`,
      );
    }
    await put('dotted.mjs', HOURS.replace('businessHours', 'operational.hours'));
    expect(await problems(file('./dotted.mjs', ''))).toContain(
      'plugins[0].use: its contractKey "operational.hours" is no name of a section; expected letters and digits',
    );
    expect(await problems(file('./hours.mjs }, { use: ./again.mjs', 'businessHours: { open: "9" }\n'))).toBe(
      'vmcp.yaml:6: plugins[1].use: its contractKey "businessHours" is the key of another section',
    );
  });

  it('is named when it fails on its section', async () => {
    await put('hours.mjs', BROKEN);
    await expect(read(file('./hours.mjs', 'businessHours: {}\n'))).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: './hours.mjs could not read its section (fromContract)',
    });
  });

  it('is shown by the example of the guide', async () => {
    const example = join(import.meta.dirname, '../../../examples/custom-interceptor/vmcp.yaml');
    const plan = planFromConfig(await readConfig(await readConfigText(example), example, catalogue, LOADS));
    expect(plan.plugins.at(-1)).toEqual({ use: './mask-secrets/index.ts', with: { patterns: ['tok_[0-9a-z]{8,}'] } });
  });
});
