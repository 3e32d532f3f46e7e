import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createRecord, type RunConfig, readWorkload, readWorkloadSecrets } from '@toolmgr/plugins/kit/workloads';
import type { Provider } from 'oidc-provider';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { terminalWork } from '../../../hosts/run/commands/start-detached.ts';
import { logInFirst } from '../../../hosts/workloads/login/log-in-first.ts';
import type { IdentityProvider } from '../../support/identity-provider.ts';
import { LOGIN_CLIENTS, loginProvider } from '../../support/login-provider.ts';
import { followLogin, type OauthRemote, oauthRemote } from '../../support/oauth-remote.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { planned } from './planned-gateway.ts';

const opened = vi.hoisted((): string[] => []);
vi.mock('open', () => ({
  default: async (url: string) => {
    opened.push(url);
    return { once() {} };
  },
}));

let state: string;
let idp: IdentityProvider;

beforeEach(async () => {
  state = temporaryFolder('login');
  idp = await loginProvider();
  opened.length = 0;
});

afterEach(async () => {
  vi.restoreAllMocks();
  await idp[Symbol.asyncDispose]();
});

/** What a login left. */
interface LoggedIn {
  readonly problem: string | undefined;
  /** The URL that was shown; an `https://none` without a login. */
  readonly shown: URL;
  /** All that was printed. */
  readonly said: string;
  readonly config: RunConfig | undefined;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Does what `toolmgr run ARGV URL` does before it starts the proxy. */
async function logIn(
  remote: OauthRemote,
  argv: readonly string[],
  browser: (url: string) => unknown = followLogin,
): Promise<LoggedIn> {
  const { config, secrets } = await planned(['--name', 'far', ...argv, remote.url]);
  await createRecord(state, config, secrets);
  let shown = 'https://none';
  let said = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += text;
    const url = /^ {2}(http\S+)$/m.exec(String(text))?.[1];
    if (url !== undefined) {
      shown = url;
      void browser(url);
    }
    return true;
  });
  const problem = await logInFirst(state, 'far', terminalWork('far', AbortSignal.timeout(20_000)));
  vi.restoreAllMocks();
  return {
    problem,
    shown: new URL(shown),
    said,
    config: (await readWorkload(state, 'far'))?.config,
    secrets: await readWorkloadSecrets(state, 'far'),
  };
}

/** A server without metadata and challenge, so that nothing can be discovered. */
const silent = () => oauthRemote(idp, { era: '2026-07-28', metadata: 'none', challenge: () => undefined });
const asking = () => oauthRemote(idp, { era: '2026-07-28' });
const ignore = () => {};
/** Leaves the OIDC metadata as the only one. */
const withoutOauthMetadata = (provider: Provider): void => {
  provider.use(async (context, next) => {
    if (context.path === '/.well-known/oauth-authorization-server') context.status = 404;
    else await next();
  });
};
const BRIEF = ['--remote-auth-timeout', '300ms'] as const;

describe('the client of a login', () => {
  proves(
    ['run.registration.automatic', 'run.registration.discovered-by-oidc', 'run.registration.pkce'],
    'is registered at the endpoint that the OIDC metadata names, and uses PKCE',
    async () => {
      await using oidc = await loginProvider({ extend: withoutOauthMetadata });
      await using remote = await oauthRemote(oidc, { era: '2026-07-28' });
      const { problem, shown, config, secrets } = await logIn(remote, ['--remote-auth-issuer', oidc.issuer]);
      expect(problem).toBeUndefined();
      expect(oidc.seen).toContain('GET /.well-known/openid-configuration');
      expect(oidc.seen).toContain('POST /reg');
      expect(shown.searchParams.get('code_challenge_method')).toBe('S256');
      expect(shown.searchParams.get('client_id')).toBe(config?.remote_auth_config?.cached_client_id);
      expect(secrets.OAUTH_ACCESS_TOKEN).toMatch(/^eyJ/);
    },
  );

  proves(
    ['run.option.remote-auth-client-id', 'run.option.remote-auth-client-secret'],
    'is that of --remote-auth-client-id, which needs no secret with PKCE',
    async () => {
      await using remote = await asking();
      const { problem, shown } = await logIn(remote, ['--remote-auth-client-id', LOGIN_CLIENTS.app.id]);
      expect(problem).toBeUndefined();
      expect(shown.searchParams.get('client_id')).toBe(LOGIN_CLIENTS.app.id);
      expect(shown.searchParams.get('code_challenge_method')).toBe('S256');
      expect(idp.seen).not.toContain('POST /reg');
    },
  );

  proves(
    ['run.option.remote-auth-client-secret', 'run.option.remote-auth-client-secret-file'],
    'has the secret of an option or a file, which is not in its configuration',
    async () => {
      const { id, secret } = LOGIN_CLIENTS.team;
      const file = join(state, 'client-secret');
      await writeFile(file, `${secret}\n`);
      for (const given of [
        ['--remote-auth-client-secret', secret],
        ['--remote-auth-client-secret-file', file],
      ]) {
        await using remote = await asking();
        const { problem, config } = await logIn(remote, ['--remote-auth-client-id', id, ...given]);
        expect(problem).toBeUndefined();
        expect(JSON.stringify(config)).not.toContain(secret);
        await rm(join(state, 'workloads'), { recursive: true });
      }
      await using remote = await asking();
      const wrong = await logIn(remote, ['--remote-auth-client-id', id, '--remote-auth-client-secret', 'wrong']);
      expect(wrong.problem).toMatch(/does not accept the client \(invalid_client\)/);
    },
  );
});

describe('the authorization server of a login', () => {
  proves('run.option.remote-auth-issuer', 'is that of --remote-auth-issuer', async () => {
    await using remote = await silent();
    const { problem, config } = await logIn(remote, ['--remote-auth-issuer', idp.issuer]);
    expect(problem).toBeUndefined();
    expect(config?.remote_auth_config).toMatchObject({ issuer: idp.issuer, cached_issuer: idp.issuer });
  });

  proves(
    ['run.option.remote-auth-authorize-url', 'run.option.remote-auth-token-url'],
    'has the endpoints of two options, and nothing is discovered',
    async () => {
      await using remote = await silent();
      const { problem, shown, secrets } = await logIn(remote, [
        ...['--remote-auth-authorize-url', `${idp.issuer}/auth`, '--remote-auth-token-url', `${idp.issuer}/token`],
        ...['--remote-auth-client-id', LOGIN_CLIENTS.app.id, '--remote-auth-scopes', 'tools,offline_access'],
      ]);
      expect(problem).toBeUndefined();
      expect(shown.pathname).toBe('/auth');
      expect(secrets.OAUTH_ACCESS_TOKEN).toBeDefined();
      expect(idp.seen.filter((line) => line.includes('.well-known'))).toEqual([]);
    },
  );

  proves('run.option.remote-auth', 'is used with --remote-auth also when the server asks for no login', async () => {
    await using plain = await oauthRemote(idp, { era: '2026-07-28', metadata: 'none', isOpen: true });
    const without = await logIn(plain, []);
    expect(without).toMatchObject({ problem: undefined, secrets: {} });
    await rm(join(state, 'workloads'), { recursive: true });
    const required = await logIn(plain, ['--remote-auth']);
    expect(required.problem).toMatch(/names no authorization server: give .*--remote-auth-issuer/);
    await rm(join(state, 'workloads'), { recursive: true });
    expect((await logIn(plain, ['--remote-auth', '--remote-auth-issuer', idp.issuer])).problem).toBeUndefined();
  });
});

describe('the authorization request of a login', () => {
  proves('run.option.remote-auth-resource', 'has the resource of an option, or of the metadata', async () => {
    await using remote = await asking();
    const given = await logIn(remote, ['--remote-auth-resource', 'urn://tools', ...BRIEF], ignore);
    expect(given.shown.searchParams.get('resource')).toBe('urn://tools');
    await rm(join(state, 'workloads'), { recursive: true });
    const derived = await logIn(remote, [...BRIEF], ignore);
    expect(derived.shown.searchParams.get('resource')).toBe(remote.url);
    for (const wrong of ['tools', '/mcp', `${remote.url}#part`]) {
      await expect(planned(['--remote-auth-resource', wrong, remote.url])).rejects.toThrow(/--remote-auth-resource/);
    }
  });

  proves('run.option.remote-auth-scope-param-name', 'has its scopes in the parameter of an option', async () => {
    await using remote = await asking();
    const { shown } = await logIn(remote, ['--remote-auth-scope-param-name', 'user_scope', ...BRIEF], ignore);
    expect(shown.searchParams.get('user_scope')).toBe('tools offline_access');
    expect(shown.searchParams.has('scope')).toBe(false);
  });

  proves('run.option.remote-auth-scopes', 'has openid,profile,email for OIDC, or the scopes of an option', async () => {
    await using remote = await silent();
    const plain = await logIn(remote, ['--remote-auth-issuer', idp.issuer, ...BRIEF], ignore);
    expect(plain.shown.searchParams.get('scope')).toBe('openid profile email offline_access');
    await rm(join(state, 'workloads'), { recursive: true });
    const argv = ['--remote-auth-issuer', idp.issuer, '--remote-auth-scopes', 'tools, openid', ...BRIEF];
    expect((await logIn(remote, argv, ignore)).shown.searchParams.get('scope')).toBe('tools openid');
  });
});

describe('the answer of a login', () => {
  proves('run.option.remote-auth-callback-port', 'arrives at port 8666, or at that of an option', async () => {
    const busy = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => busy.once('listening', resolve));
    const { port } = busy.address() as AddressInfo;
    await using remote = await asking();
    const taken = await logIn(remote, ['--remote-auth-callback-port', String(port)]);
    expect(taken.problem).toMatch(new RegExp(`port ${port} .* is taken: .*--remote-auth-callback-port`));
    await new Promise((resolve) => busy.close(resolve));
    await rm(join(state, 'workloads'), { recursive: true });
    const given = await logIn(remote, ['--remote-auth-callback-port', String(port)]);
    expect(given.problem).toBeUndefined();
    expect(given.shown.searchParams.get('redirect_uri')).toBe(`http://localhost:${port}/callback`);
    await rm(join(state, 'workloads'), { recursive: true });
    const { problem, shown, config } = await logIn(remote, []);
    expect(problem).toBeUndefined();
    // another test or program may have port 8666 now; then a client is registered for a free port
    const used = config?.remote_auth_config?.cached_dcr_callback_port;
    expect(shown.searchParams.get('redirect_uri')).toBe(`http://localhost:${used}/callback`);
    await expect(planned(['--remote-auth-callback-port', '80', remote.url])).rejects.toThrow(/is wrong|invalid/);
  });

  proves('run.option.remote-auth-skip-browser', 'is asked for in a browser, unless an option says not to', async () => {
    await using remote = await asking();
    await logIn(remote, ['--remote-auth-skip-browser', ...BRIEF], ignore);
    expect(opened).toEqual([]);
    await rm(join(state, 'workloads'), { recursive: true });
    const { shown, said } = await logIn(remote, [...BRIEF], ignore);
    expect(opened).toEqual([shown.href]);
    expect(said).toContain(`  ${new URL(remote.url).origin} gets the access token\n`);
  });

  proves('run.option.remote-auth-timeout', 'must arrive within 30s, or the time of an option', async () => {
    await using remote = await asking();
    const startMs = performance.now();
    const { problem } = await logIn(remote, ['--remote-auth-timeout', '700ms'], ignore);
    expect(problem).toMatch(/was not finished within 0\.7 s: give a longer --remote-auth-timeout/);
    expect(performance.now() - startMs).toBeGreaterThan(690);
    await rm(join(state, 'workloads'), { recursive: true });
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const { config, secrets } = await planned(['--name', 'far', remote.url]);
    await createRecord(state, config, secrets);
    const stop = new AbortController();
    vi.spyOn(process.stderr, 'write').mockImplementation(() => {
      stop.abort(new Error('stopped'));
      return true;
    });
    expect(await logInFirst(state, 'far', terminalWork('far', stop.signal))).toBe('interrupted');
    expect(timeout).toHaveBeenCalledWith(30_000);
    vi.restoreAllMocks();
    for (const wrong of ['0s', 'soon', '30']) {
      await expect(planned(['--remote-auth-timeout', wrong, remote.url])).rejects.toThrow();
    }
  });
});

describe('options of a login that exclude each other', () => {
  const url = 'https://far.example/mcp';
  const issuer = ['--remote-auth-issuer', 'https://id.example'];
  const endpoints = [
    '--remote-auth-authorize-url',
    'https://id.example/a',
    '--remote-auth-token-url',
    'https://id.example/t',
  ];
  it.each<[string, readonly string[], RegExp]>([
    ['an issuer and endpoints', [...issuer, ...endpoints], /authorize-url and --remote-auth-issuer exclude/],
    ['an endpoint alone', endpoints.slice(0, 2), /needs --remote-auth-token-url/],
    ['endpoints without a client', endpoints, /needs --remote-auth-client-id/],
    ['a secret without a client', ['--remote-auth-client-secret', 'x'], /needs --remote-auth-client-id/],
    [
      'two secrets',
      [
        ...['--remote-auth-client-id', 'a', '--remote-auth-client-secret', 'x'],
        '--remote-auth-client-secret-file',
        'y',
      ],
      /exclude each other/,
    ],
    ['a bearer token', ['--remote-auth', '--remote-auth-bearer-token', 'x'], /no effect beside a bearer token/],
    [
      'an Authorization header',
      ['--remote-auth', '--remote-forward-headers', 'authorization=x'],
      /no effect beside --remote-forward-headers Authorization/,
    ],
  ])('are refused: %s', async (_what, argv, sentence) => {
    await expect(planned([...argv, url])).rejects.toThrow(sentence);
  });

  it('are refused for a program', async () => {
    await expect(planned(['--remote-auth', process.execPath])).rejects.toThrow(/--remote-auth is for URLs/);
  });
});
