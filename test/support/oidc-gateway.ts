import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Call, Plugin } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import type { oidcConfig } from '@toolmgr/plugins/incoming-auth/oidc';
import { z } from 'zod';
import type { IdentityProvider } from './identity-provider.ts';
import { postModern, type Reply } from './open-endpoint.ts';

/** Audience of the tokens. */
export const AUDIENCE = 'https://gateway.example/mcp';

/** A gateway over HTTP that trusts an identity provider, with one tool `echo`. */
export interface OidcGateway extends AsyncDisposable {
  readonly kit: TestGateway;
  readonly url: string;
  /** Authorized calls, to check their caller. */
  readonly calls: Call[];
  /** Calls `echo` with this `Authorization` header, or without one. */
  ask(authorization?: string): Promise<Reply>;
  /** Calls `echo` with a bearer token and returns the HTTP status. */
  status(token: string): Promise<number>;
  /** Moves the gateway's clock, not the provider's. */
  readonly clock: { aheadMs: number };
}

/** A server whose tool `echo` answers "here". */
export function echoServer(): FakeServer {
  return fakeServer().tool('echo', () => ({ content: [{ type: 'text', text: 'here' }] }));
}

/** Settings that differ from the defaults. */
export type OidcGiven = Partial<z.input<typeof oidcConfig>>;

/** Starts a gateway. `config` may depend on its URL; `more` has plugins, or addresses of ours; `far` has the tool `echo`. */
export async function oidcGateway(
  idp: Pick<IdentityProvider, 'issuer'>,
  config: OidcGiven | ((url: string) => OidcGiven) = {},
  more: readonly (Plugin | string)[] = [],
  far: FakeServer = echoServer(),
): Promise<OidcGateway> {
  const clock = { aheadMs: 0 };
  const calls: Call[] = [];
  const watching: Plugin = {
    address: 'test/watching',
    config: z.strictObject({}),
    apply: ({ hooks }) => hooks.authorize.tap('test/watching', (call) => void calls.push(call)),
  };
  let kit: TestGateway | undefined;
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) =>
    kit?.gateway.handle(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const given = {
    issuer: idp.issuer,
    clientId: 'gateway',
    audience: AUDIENCE,
    insecureAllowHttp: true,
    jwksAllowPrivateIp: true,
    ...(typeof config === 'function' ? config(url) : config),
  };
  const opened = await testGateway({
    catalogue,
    plugins: [watching, ...more.filter((each) => typeof each !== 'string')],
    plan: {
      plugins: [
        { use: 'secrets/environment' },
        { use: 'incoming-auth/oidc', with: given },
        { use: watching.address },
        ...more.map((each) => ({ use: typeof each === 'string' ? each : each.address })),
      ],
    },
    backends: { far },
    now: () => Date.now() + clock.aheadMs,
  });
  kit = opened;
  const ask: OidcGateway['ask'] = (authorization) =>
    postModern(
      url,
      'tools/call',
      { name: 'echo', arguments: { a: 1 } },
      {
        headers: authorization === undefined ? {} : { authorization },
      },
    );
  return {
    kit: opened,
    url,
    calls,
    clock,
    ask,
    status: async (token) => (await ask(`Bearer ${token}`)).status,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
