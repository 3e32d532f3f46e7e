import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpBrowser, httpBrowser } from '../../../support/http-browser.ts';
import { type SignInGateway, signInGateway, signInWith } from '../../../support/sign-in-gateway.ts';
import { until } from '../../../support/until.ts';

const CALL = { name: 'mail_whoami', arguments: {} };
const URL_MODE = { elicitation: { url: {} } };
const MS = 180_000;

const text = (result: unknown): unknown => (result as { content: { text?: string }[] }).content[0]?.text;

describe('an account that is connected after the sign-in', () => {
  let gateway: SignInGateway;
  beforeAll(async () => {
    gateway = await signInGateway();
    gateway.calendar.loginAs = 'ada-at-calendar';
  }, MS);
  afterAll(() => gateway?.[Symbol.asyncDispose]());

  /** A person of its own in a browser of its own, and a token. */
  async function person(
    name: string,
  ): Promise<{ readonly browser: HttpBrowser; readonly headers: Record<string, string> }> {
    gateway.corp.loginAs = name;
    const browser = httpBrowser();
    const { access_token: token } = await signInWith(gateway, browser);
    return { browser, headers: { authorization: `Bearer ${token}` } };
  }

  it(
    'by the link of -32042, lets an SDK 1.x client call the backend; others worked before',
    async () => {
      const { browser, headers } = await person('one');
      const client = new ClientV1({ name: 'one', version: '1' }, { capabilities: URL_MODE });
      const transport = new TransportV1(new URL(gateway.url), { requestInit: { headers } });
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      expect(text(await client.callTool({ name: 'notes_whoami' }))).toBe('one');
      const thrown = await client.callTool(CALL).catch((cause: unknown) => cause);
      expect(thrown).toBeInstanceOf(UrlElicitationRequiredError);
      const [elicitation] = (thrown as UrlElicitationRequiredError).elicitations;
      expect(elicitation?.message).toBe('connect your account at calendar');
      await browser.open(elicitation?.url ?? '', `${gateway.issuer}/oauth/connect?connected`);
      expect(text(await client.callTool(CALL))).toBe('ada-at-calendar');
      await client.close();
    },
    MS,
  );

  it(
    'by a link that the client opens itself, ends the same call of an SDK 2.x client, also when it takes a while',
    async () => {
      const { browser, headers } = await person('two');
      const versionNegotiation = { mode: { pin: '2026-07-28' } } as const;
      const client = new ClientV2({ name: 'two', version: '1' }, { capabilities: URL_MODE, versionNegotiation });
      let asked = 0;
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked++;
        // the client answers at once, and the person needs a moment
        setTimeout(
          () => void browser.open((params as { url: string }).url, `${gateway.issuer}/oauth/connect?connected`),
          500,
        );
        return { action: 'accept' as const };
      });
      await client.connect(new TransportV2(new URL(gateway.url), { requestInit: { headers } }));
      expect(text(await client.callTool(CALL))).toBe('ada-at-calendar');
      expect(asked).toBe(1);
      await client.close();
    },
    MS,
  );

  it(
    'is a tool failure with the link for a client without url elicitation, and is of no use to another person',
    async () => {
      const { headers } = await person('three');
      const client = new ClientV2({ name: 'three', version: '1' });
      await client.connect(new TransportV2(new URL(gateway.url), { requestInit: { headers } }));
      const result = await client.callTool(CALL);
      expect(result.isError).toBe(true);
      const [url = ''] = /http\S+$/.exec(String(text(result))) ?? [];
      expect(text(result)).toMatch(/^connect your account at calendar \(USER_ACTION_REQUIRED\)\. Open this link/);
      const { browser: other } = await person('mallory');
      await expect(other.open(url)).rejects.toThrow(/40\d/);
      expect((await client.callTool(CALL)).isError).toBe(true);
      await client.close();
    },
    MS,
  );

  it(
    'by the tool connect_account, also when no tool of the backend is listed before',
    async () => {
      const { browser, headers } = await person('five');
      const client = new ClientV1({ name: 'five', version: '1' }, { capabilities: URL_MODE });
      const transport = new TransportV1(new URL(gateway.url), { requestInit: { headers } });
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      const connect = (given: object = {}) => client.callTool({ name: 'connect_account', arguments: { ...given } });
      expect(text(await connect({ provider: 'calender' }))).toContain('did you mean "calendar"?');
      expect(text(await connect({ account: 'x' }))).toContain("takes 'provider' only");
      const asked = (await connect().catch((cause: unknown) => cause)) as UrlElicitationRequiredError;
      expect(asked.elicitations[0]?.message).toBe('connect your account at calendar');
      await browser.open(asked.elicitations[0]?.url ?? '', `${gateway.issuer}/oauth/connect?connected`);
      expect(text(await connect({ provider: 'calendar' }))).toMatch(/^connected: calendar\./);
      expect(text(await client.callTool(CALL))).toBe('ada-at-calendar');
      await client.close();
    },
    MS,
  );

  it(
    'that was disconnected at the provider needs a link again; other backends keep working',
    async () => {
      const { browser, headers } = await person('four');
      const client = new ClientV1({ name: 'four', version: '1' }, { capabilities: URL_MODE });
      const transport = new TransportV1(new URL(gateway.url), { requestInit: { headers } });
      await client.connect(transport as Parameters<typeof client.connect>[0]);
      const asked = (await client.callTool(CALL).catch((cause: unknown) => cause)) as UrlElicitationRequiredError;
      await browser.open(asked.elicitations[0]?.url ?? '', `${gateway.issuer}/oauth/connect?connected`);
      expect(text(await client.callTool(CALL))).toBe('ada-at-calendar');
      gateway.calendar.revokeAll();
      // the backend answers 401 now, and the token cannot be refreshed
      await until(
        async () =>
          (await client.callTool(CALL).catch((cause: unknown) => cause)) instanceof UrlElicitationRequiredError,
      );
      expect(text(await client.callTool({ name: 'notes_whoami' }))).toBe('four');
      await client.close();
    },
    MS,
  );
});
