import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '../../hosts/operator/kinds/index.ts';
import { runTool } from '../../scripts/rigs/run-tool.ts';
import { missingKube, startKube } from '../support/kube.ts';
import { rig } from '../support/rig.ts';

const found = rig('helm');
const missing = 'missing' in found ? found.missing : missingKube();
const program = 'missing' in found ? '' : join(found.folder, 'helm');
const CHARTS = join(import.meta.dirname, '../../deploy/charts');
const OPERATOR = join(CHARTS, 'toolmgr');
const DEFINITIONS = join(CHARTS, 'toolmgr-crds');
const values = (name: string): string => join(import.meta.dirname, 'values', `${name}.yaml`);
const helm = (...args: readonly string[]): Promise<string> => runTool(program, args);
const LONG = 240_000;

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object };
}

function objectsOf(text: string): readonly Rendered[] {
  return parseAllDocuments(text).flatMap((document) => (document.toJS() === null ? [] : [document.toJS() as Rendered]));
}

describe.skipIf(missing)(`The charts${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  it.each(['everything', 'namespaces'])('render %s as in the golden file', { timeout: LONG }, async (name) => {
    const out = await helm('template', 'release', OPERATOR, '--namespace', 'system', '--values', values(name));
    await expect(withoutSources(out)).toMatchFileSnapshot(join(import.meta.dirname, 'golden', `${name}.yaml`));
  });

  it('are the source of the file for kubectl', { timeout: LONG }, async () => {
    const out = await helm('template', 'toolmgr', OPERATOR, '--namespace', 'toolmgr-system');
    const plain = withoutSources(out).replace(/^ +(?:app\.kubernetes\.io\/managed-by|helm\.sh\/chart): .*\n/gm, '');
    await expect(plain).toMatchFileSnapshot(join(CHARTS, '../operator.yaml'));
  });

  it('are without faults for the linter, and refuse unknown and impossible values', { timeout: LONG }, async () => {
    for (const name of ['everything', 'namespaces']) await helm('lint', '--strict', OPERATOR, '--values', values(name));
    await helm('lint', '--strict', OPERATOR);
    await helm('lint', '--strict', DEFINITIONS);
    const refused = [
      ['operator.replicas=2', /additional propert.*replicas/],
      ['operator.rbac.scope=all', /rbac\/scope/],
      ['operator.image.digest=abc', /digest/],
      ['operator.serviceAccount.create=false', /serviceAccount\.name is needed/],
      ['gateway.enabled=true', /gateway\.virtualMCPServer/],
    ] as const;
    for (const [value, message] of refused) {
      await expect(helm('template', OPERATOR, '--set', value), value).rejects.toThrow(message);
    }
  });

  it('contain every kind, kept at an uninstall unless asked otherwise', { timeout: LONG }, async () => {
    const kept = objectsOf(await helm('template', DEFINITIONS));
    const plurals = KINDS.map(({ plural }) => `${plural}.toolmgr.dev`).sort();
    expect(kept.map(({ metadata }) => metadata.name).sort()).toEqual(plurals);
    for (const { metadata } of kept) expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const dropped = objectsOf(await helm('template', DEFINITIONS, '--set', 'crds.keep=false'));
    expect(dropped).toHaveLength(plurals.length);
    for (const { metadata } of dropped) expect(metadata.annotations).toBeUndefined();
    expect(objectsOf(await helm('template', DEFINITIONS, '--set', 'crds.install=false'))).toEqual([]);
    const rules = await helm('template', OPERATOR);
    for (const { plural } of KINDS) expect(rules).toContain(`${plural}/status`);
  });

  it('install, upgrade and uninstall at a real API server, two releases beside each other', {
    timeout: LONG,
  }, async () => {
    await using cluster = await startKube();
    const connected = (...args: readonly string[]) => helm(...args, '--kubeconfig', cluster.kubeconfig);
    await connected('install', 'definitions', DEFINITIONS);
    await cluster.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']);
    for (const name of ['team-a', 'team-b', 'one', 'two']) await cluster.kubectl(['create', 'namespace', name]);
    const scoped = (namespace: string, watched: string) => [
      ...['--namespace', namespace, '--set', 'operator.rbac.scope=namespace'],
      ...['--set', `operator.rbac.allowedNamespaces={${watched}}`],
    ];
    // one name in two namespaces, and two names in one namespace
    await connected('install', 'ops', OPERATOR, ...scoped('one', 'team-a'));
    await connected('install', 'ops', OPERATOR, ...scoped('two', 'team-b'));
    await connected('install', 'more', OPERATOR, ...scoped('two', 'two'));
    await connected('upgrade', 'ops', OPERATOR, ...scoped('one', 'team-a'), '--set', 'operator.replicaCount=2');
    const budget = ['get', 'poddisruptionbudget', '--namespace', 'one', '--output=name'];
    expect(await cluster.kubectl(budget)).toContain('ops-toolmgr');
    const mayList = (account: string, namespace: string) =>
      cluster
        .kubectl(['auth', 'can-i', 'list', 'secrets', `--as=system:serviceaccount:${account}`, '-n', namespace])
        .catch((cause: Error) => cause.message);
    expect(await mayList('one:ops-toolmgr', 'team-a')).toContain('yes');
    expect(await mayList('one:ops-toolmgr', 'team-b')).toContain('no');
    await cluster.kubectl(['apply', '--namespace', 'team-a'], GROUP);
    await connected('uninstall', 'ops', '--namespace', 'one');
    await connected('uninstall', 'definitions');
    // the definitions and with them the objects are kept
    expect(await cluster.kubectl(['get', 'mcpgroups', '--namespace', 'team-a', '--output=name'])).toContain('team');
    expect(await cluster.kubectl(['get', 'clusterroles', '--output=name'])).not.toContain('one-ops-toolmgr');
    expect(await cluster.kubectl(['get', 'clusterroles', '--output=name'])).toContain('two-more-toolmgr');
    const file = readFileSync(join(CHARTS, '../install.yaml'), 'utf8');
    await cluster.kubectl(['apply', '--server-side', '--force-conflicts'], file);
    expect(await cluster.kubectl(['get', 'deployments', '--namespace', 'toolmgr-system'])).toContain('toolmgr');
  });
});

const GROUP = 'apiVersion: toolmgr.dev/v1beta1\nkind: MCPGroup\nmetadata: { name: team }\n';

/** Without the comments by which Helm names its templates. */
function withoutSources(rendered: string): string {
  return rendered.replace(/^# Source: .*\n/gm, '').replace(/\n+---\n/g, '\n---\n');
}
