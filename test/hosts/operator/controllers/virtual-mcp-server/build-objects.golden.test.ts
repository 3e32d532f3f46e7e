import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { buildObjects } from '../../../../../hosts/operator/controllers/virtual-mcp-server/build-objects.ts';
import type { VirtualMcpServer } from '../../../../../hosts/operator/kinds/virtual-mcp-server.ts';
import { podInputs, type Resolved, resolved } from '../../../../support/resolved-server.ts';

const FOLDER = join(import.meta.dirname, 'golden');

const CASES: Readonly<Record<string, { readonly spec: object; readonly now?: Partial<Resolved> }>> = {
  discovered: { spec: { serviceType: 'ClusterIP', sessionAffinity: 'ClientIP' } },
  'inline-own-account': {
    spec: { replicas: 3, serviceAccount: 'mine', serviceType: 'LoadBalancer', sessionAffinity: 'None' },
    now: { document: undefined, secretNames: [] },
  },
  'no-secrets': { spec: {}, now: { secretNames: [] } },
};

describe('the objects of a VirtualMCPServer', () => {
  it.each(Object.keys(CASES))('%s: they match the golden manifests', (name) => {
    const golden = join(FOLDER, `${name}.yaml`);
    const text = manifests(name);
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text);
    expect(text).toBe(readFileSync(golden, 'utf8'));
  });

  it('without secrets the Role has no rule about secrets, because one without names is about all', () => {
    expect(manifests('no-secrets')).not.toContain('- secrets');
    expect(manifests('discovered')).toMatch(/- secrets\n\s+resourceNames:\n\s+- header\n\s+verbs:\n\s+- get\n/);
  });
});

function manifests(name: string): string {
  const { spec = {}, now = {} } = CASES[name] ?? {};
  const server = {
    apiVersion: 'toolmgr.dev/v1beta1',
    kind: 'VirtualMCPServer',
    metadata: { name: 'a', namespace: 'team' },
    spec: { groupRef: { name: 'tools' }, incomingAuth: { type: 'anonymous' }, ...spec },
  } as VirtualMcpServer;
  const built = buildObjects({
    server,
    inputs: podInputs(resolved(now)),
    imagePullSecrets: [{ name: 'registry' }],
    settings: { image: 'example.test/toolmgr:1' },
  });
  if ('templateProblem' in built) throw new Error(built.templateProblem);
  const removed = built.unwanted.map(({ type, name: unwanted }) => `# not wanted: ${type.kind} ${unwanted}\n`);
  return `${built.wanted.map(({ object }) => stringify(object)).join('---\n')}${removed.join('')}`;
}
