import { findPlugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../hosts/operator/kinds/index.ts';
import { flagOf, RUN_OPTIONS } from '../../../hosts/workloads/fields/options.ts';
import type { RunOption } from '../../../hosts/workloads/fields/run-option.ts';
import { configRows } from '../../../scripts/docs/config-table.ts';
import { tokensOf } from '../../support/source-text.ts';
import { readTree } from '../../support/tree.ts';
import NAMES_IN_OPERATOR from './names-in-operator.json' with { type: 'json' };

/** What only a plugin and the catalogue say: its address, the key of its section, and its fields of several words. */
async function wordsOfPlugins(): Promise<ReadonlySet<string>> {
  const words = new Set<string>();
  for (const address of Object.keys(catalogue)) {
    const { contractKey = '' } = await findPlugin(address, { catalogue, baseDir: '' });
    for (const word of [address, ...contractKey.split('.'), ...(await fieldsOf(address))]) words.add(word);
  }
  for (const word of OF_HOST) words.delete(word);
  return words;
}

/** Fields of several words of one plugin. */
async function fieldsOf(address: string): Promise<readonly string[]> {
  const { config, slotOptions = {} } = await findPlugin(address, { catalogue, baseDir: '' });
  const paths = [config, ...Object.values(slotOptions)].flatMap((schema) =>
    configRows(schema).map(([path = '']) => path),
  );
  return paths.flatMap((path) => path.match(/[A-Za-z]+/g) ?? []).filter((field) => /[a-z][A-Z]/.test(field));
}

/** Keys that the host reads itself, and words that mean something else there as well. */
const OF_HOST = ['', '*', 'incomingAuth', 'outgoingAuth', 'operational', 'groupRef', 'backends', 'stateDir'];

/** What may be named: the section that a flag switches on. */
const ALLOWED: ReadonlySet<string> = new Set([
  'hosts/vmcp/serve/options.ts: audit', // --enable-audit
  'hosts/vmcp/serve/options.ts: optimizer', // --optimizer
  'hosts/vmcp/lock.ts: toolPinning', // vmcp lock, --frozen
  'hosts/vmcp/lock.ts: trustFirst',
  'hosts/vmcp/serve/serve-over-http.ts: stopMs', // a limit of the core
  // they write sections of a file for a user
  'hosts/vmcp/init-from-client.ts: headersEnv',
  'hosts/vmcp/init-from-client.ts: envFrom',
  'hosts/vmcp/init-from-client.ts: failureHandling',
  'hosts/vmcp/init-from-client.ts: partialFailureMode',
  'hosts/vmcp/standalone-defaults.ts: aggregation',
]);

/** Words of plugins in sources of the host, by file. */
function found(files: ReadonlyMap<string, string>, words: ReadonlySet<string>): readonly string[] {
  return [...files].flatMap(([path, text]) =>
    tokensOf(text).flatMap((token) =>
      token.kind !== 'mark' && words.has(token.text) ? [`${path}: ${token.text}`] : [],
    ),
  );
}

/** How often each source of the operator names plugins. */
function countsOf(files: ReadonlyMap<string, string>, words: ReadonlySet<string>): Readonly<Record<string, number>> {
  const paths = found(files, words).map((line) => line.slice(0, line.indexOf(':')));
  return Object.fromEntries(
    [...new Set(paths)].sort().map((path) => [path, paths.filter((each) => each === path).length]),
  );
}

/** Fields of Kubernetes' own objects that fields of plugins happen to be named like. */
const OF_KUBERNETES = ['containerPort', 'failureThreshold', 'readOnly', 'serviceName', 'targetPort'];

/** Members of `spec` of the operator's own kinds: the contract names them, whatever plugin reads them. */
const OF_KINDS = KINDS.flatMap(({ spec }) => Object.keys((spec as { readonly shape?: object }).shape ?? {}));

const without = (words: ReadonlySet<string>, others: readonly string[]) =>
  new Set([...words].filter((word) => !others.includes(word)));

const sourcesIn = (folder: RegExp) => new Map([...readTree()].filter(([path]) => folder.test(path)));

describe('the operator', () => {
  it('names plugins as often as is counted: a number that falls is written down, and none rises', async () => {
    const sources = sourcesIn(/^hosts\/operator\/.*\.ts$/);
    expect(sources.size).toBeGreaterThan(100);
    expect(OF_KINDS).toEqual(expect.arrayContaining(['remoteUrl', 'serviceAccount', 'sessionStorage']));
    const words = without(await wordsOfPlugins(), OF_KINDS);
    const inObjects = without(words, OF_KUBERNETES);
    const makesObjects = /^hosts\/operator\/(controllers|objects)\/|\/(pod-parts|resolution)\.ts$/;
    const counts = [...sources].map((source) =>
      countsOf(new Map([source]), makesObjects.test(source[0]) ? inObjects : words),
    );
    expect(Object.assign({}, ...counts)).toEqual(NAMES_IN_OPERATOR);
  });

  it('would be found to name one once more', async () => {
    const files = new Map([
      ['b.ts', 'telemetry.tracingEnabled'],
      ['a.ts', "use('stores/redis')"],
    ]);
    expect(countsOf(files, await wordsOfPlugins())).toEqual({ 'a.ts': 1, 'b.ts': 2 });
  });
});

/** What the host of workloads may name, and why. */
const ALLOWED_IN_RUN: ReadonlySet<string> = new Set([
  'hosts/workloads/proxy/plan.ts: backend-sources/workloads', // the source of its one backend
  'hosts/workloads/proxy/workload-secrets.ts: secrets/environment', // whose place it takes
  'hosts/workloads/secrets/references.ts: clientSecret', // a member of the run configuration
  'hosts/workloads/fields/fields.ts: oidc', // a section of bodies of the HTTP API
  'hosts/workloads/fields/option-values.ts: memoryBytes', // of the kit: the size that a text means
  // settings of registries and of a login at one
  'hosts/workloads/planning/check-image.ts: allowPrivateAddresses',
  'hosts/workloads/registry/configured-registries.ts: allowPrivateAddresses',
  'hosts/workloads/registry/configured-registries.ts: clientId',
  'hosts/workloads/registry/from-registry.ts: allowPrivateAddresses',
  'hosts/workloads/registry/from-registry.ts: clientId',
  'hosts/workloads/registry/registry-logins.ts: clientId',
  'hosts/workloads/registry/registry-sign-in.ts: clientId',
]);

/** Names of the core that are those of plugins or of their fields as well: of a plan, and of the state of a backend. */
const OF_CORE = ['health', 'sessionStorage'];

/** The options of its command. */
const OF_FLAGS = Object.values<readonly RunOption[]>(RUN_OPTIONS).flat().map(flagOf);

describe('the host of workloads', () => {
  it('names no plugin, and no field of one but those that every workload has: it asks the plugins about flags', async () => {
    const sources = sourcesIn(/^hosts\/(run|workloads)\/.*\.ts$/);
    expect(sources.size).toBeGreaterThan(90);
    const ofWorkloads = await fieldsOf('backend-sources/workloads');
    const names = found(sources, without(await wordsOfPlugins(), [...OF_CORE, ...OF_FLAGS, ...ofWorkloads]));
    expect(new Set(names)).toEqual(ALLOWED_IN_RUN);
  });
});

describe('the vmcp host', () => {
  it('names no plugin, no section of a plugin and no field of one: it walks the catalogue', async () => {
    // not `workflow/`, commands of one plugin, and not the strategies that no plugin brings yet
    const isOfHost = (path: string) => /^hosts\/vmcp\/(serve\/)?[^/]+\.ts$/.test(path);
    const sources = new Map([...readTree()].filter(([path]) => isOfHost(path)));
    expect(sources.size).toBeGreaterThan(20);
    expect(found(sources, await wordsOfPlugins()).filter((line) => !ALLOWED.has(line))).toEqual([]);
  });

  it('would be found to name one, by address, section and field', async () => {
    const text = "const { rateLimiting } = config; if (telemetry.tracingEnabled) use('stores/redis'); // optimizer";
    expect(found(new Map([['a.ts', text]]), await wordsOfPlugins())).toEqual([
      'a.ts: rateLimiting',
      'a.ts: telemetry',
      'a.ts: tracingEnabled',
      'a.ts: stores/redis',
    ]);
  });
});
