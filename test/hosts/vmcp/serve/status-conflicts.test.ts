import { type PlanInput, readPlan } from '@toolmgr/core';
import { type FakeServer, fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { createSwitch } from '../../../../hosts/http/gateway-switch.ts';
import { serveGateway } from '../../../../hosts/http/listen.ts';
import { hostRoutes } from '../../../../hosts/vmcp/serve/host-routes.ts';
import { proves } from '../../../support/proves.ts';
import { readText } from '../../../support/vmcp-text.ts';

const FILE = `
name: dev-vmcp
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: { conflictResolution: prefix }
`;

interface Page {
  readonly conflicts?: readonly { readonly kind: string; readonly name: string; readonly backends: string[] }[];
  readonly conflicts_total?: number;
}

type Servers = Readonly<Record<string, FakeServer>>;

/** Two backends with the same prompt and URIs; one has another URI too. */
function rivals(uris: readonly string[]): Servers {
  const server = () => uris.reduce((made, uri) => made.resource(uri, 'x'), fakeServer().prompt('same', 'x'));
  return { crm: server(), warehouse: server().resource('db://own', 'x') };
}

/** `/status` of a gateway with the authentication plugin `use`. */
async function statusOf(backends: Servers, use: string, isGuarded = false): Promise<Page> {
  const kit = await testGateway({ backends });
  await using gatewaySwitch = createSwitch(kit.gateway);
  await kit.gateway.settled();
  const { config, sections } = await readText(FILE);
  const plan = readPlan({ plugins: [{ use }] } satisfies PlanInput);
  const routes = hostRoutes(
    gatewaySwitch,
    { config, sections, plan },
    () => undefined,
    () => isGuarded,
  );
  await using served = await serveGateway(gatewaySwitch, { host: '127.0.0.1', port: 0, routes: routes.pages });
  return (await (await fetch(`${served.url}/status`)).json()) as Page;
}

const backends = ['crm', 'warehouse'];

describe('a conflict between backends', () => {
  proves('choice.endpoint.status-conflicts', 'is in /status with its kind, its name and its backends', async () => {
    const page = await statusOf(rivals(['db://users']), 'incoming-auth/anonymous');
    const { conflicts = [] } = page;
    expect(conflicts).toContainEqual({ kind: 'resource', name: 'db://users', backends });
    expect(conflicts).toContainEqual({ kind: 'prompt', name: 'same', backends });
    expect(conflicts.map(({ name }) => name)).not.toContain('db://own');
    expect(page.conflicts_total).toBe(conflicts.length);
  });

  proves('choice.endpoint.status-conflicts', 'is cut to 100 entries, with the total number', async () => {
    const uris = Array.from({ length: 150 }, (_, n) => `db://${n}`);
    const { conflicts, conflicts_total } = await statusOf(rivals(uris), 'incoming-auth/anonymous');
    expect(conflicts).toHaveLength(100);
    expect(conflicts_total).toBe(151);
  });

  proves(
    'choice.endpoint.status-conflicts',
    'is not shown on a public page when callers must authenticate',
    async () => {
      expect(await statusOf(rivals(['db://users']), 'incoming-auth/oidc')).not.toHaveProperty('conflicts');
      expect(await statusOf(rivals(['db://users']), 'incoming-auth/oidc', true)).toHaveProperty('conflicts');
    },
  );

  it('adds no key without conflicts', async () => {
    const page = await statusOf({ crm: fakeServer().prompt('same', 'x') }, 'incoming-auth/anonymous');
    expect(page).toHaveProperty('backends');
    expect(page).not.toHaveProperty('conflicts');
  });
});
