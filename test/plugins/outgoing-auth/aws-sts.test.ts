import { randomBytes } from 'node:crypto';
import type { AuthContext, BackendRequest, Caller } from '@toolmgr/core';
import { compileMatcher, matcherProblem } from '@toolmgr/plugins/kit/cel';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { sessionNameFrom } from '../../../plugins/outgoing-auth/aws-sts/session-name.ts';
import { signRequest } from '../../../plugins/outgoing-auth/aws-sts/sign-request.ts';
import { createAwsSts } from '../../../plugins/outgoing-auth/aws-sts/strategy.ts';
import { type AwsSts, awsSts, roleOfSignature } from '../../support/aws-sts.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const ROLE = 'arn:aws:iam::123456789012:role/';
const READER = `${ROLE}reader`;
const ADMIN = `${ROLE}team/admin`;
const REGION = 'eu-central-1';

afterEach(() => vi.unstubAllEnvs());

function callerOf(subject: string, claims: Caller['claims'] = {}, token = `token-of-${subject}`): Caller {
  const all = { sub: subject, ...claims };
  return { issuer: 'idp', subject, key: `idp\0${subject}`, claims: all, token: { reveal: () => token } };
}

const contextOf = (caller: Caller, purpose: AuthContext['purpose'] = 'call'): AuthContext => {
  return { caller, purpose, signal: new AbortController().signal };
};

function requestTo(target = '/mcp', body = Buffer.from('{"jsonrpc":"2.0"}')): BackendRequest {
  const backend = { name: 'aws', transport: 'streamable-http' } as const;
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return { backend, method: 'POST', url: `https://mcp.example.com${target}`, body, headers };
}

/** A strategy before a real STS, and what a backend makes of a signed request. */
async function prepared(options: Record<string, unknown>) {
  let nowMs = Date.now();
  const sts = await awsSts(() => nowMs);
  for (const name of ['ada', 'bob', 'eve']) sts.tokens.add(`token-of-${name}`);
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url);
  const strategy = createAwsSts({ slot: pluginCore({}).slot, now: () => nowMs, environment: process.env });
  onTestFinished(async () => {
    await strategy.close();
    await sts[Symbol.asyncDispose]();
  });
  const authorizer = await strategy.prepare({ region: REGION, ...options }, 'outgoingAuth.default');
  const send = async (caller: Caller, request = requestTo()): Promise<string | undefined> => {
    await authorizer.apply(request, contextOf(caller));
    return roleAt(request, sts);
  };
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { sts, authorizer, send, pass };
}

function roleAt(request: BackendRequest, sts: AwsSts, service = 'aws-mcp'): string | undefined {
  const { method, url, headers, body } = request;
  const { host, pathname, search } = new URL(url);
  const received = { method, target: pathname + search, headers: { host, ...headers }, body: Buffer.from(body ?? '') };
  return roleOfSignature(received, sts, { region: REGION, service });
}

async function refusalOf(options: Record<string, unknown>): Promise<string> {
  const strategy = createAwsSts({ slot: pluginCore({}).slot, now: Date.now, environment: process.env });
  return strategy.prepare({ region: REGION, ...options }, 'outgoingAuth.default').then(
    () => 'accepted',
    (cause: Error) => cause.message,
  );
}

describe('credentials of an AWS role', () => {
  proves(
    [
      'vmcp.aws-sts.region',
      'vmcp.aws-sts.session-duration',
      'vmcp.aws-sts.fallback-role-arn',
      'vmcp.aws-sts.session-name-claim',
    ],
    'are requested with the caller token, without AWS credentials, and sign the request',
    async () => {
      const { sts, send } = await prepared({
        fallbackRoleArn: READER,
        sessionDuration: 900,
        sessionNameClaim: 'email',
      });
      expect(await send(callerOf('ada', { email: 'ada@example.com' }))).toBe(READER);
      expect(sts.requests).toEqual([
        {
          Action: 'AssumeRoleWithWebIdentity',
          Version: '2011-06-15',
          RoleArn: READER,
          RoleSessionName: 'ada@example.com',
          WebIdentityToken: 'token-of-ada',
          DurationSeconds: '900',
        },
      ]);
      expect(sts.authorizations).toEqual([undefined]);
      expect(await refusalOf({ region: undefined, fallbackRoleArn: READER })).toMatch(/region/);
      expect(await refusalOf({ fallbackRoleArn: READER, sessionDuration: 899 })).toMatch(/sessionDuration/);
    },
  );

  proves(
    ['vmcp.aws-sts.role-mappings', 'vmcp.aws-sts.role-claim', 'vmcp.aws-sts.role-mappings-priority'],
    'are those of the first mapping by priority, then by order; mappings without a priority come last',
    async () => {
      const { sts, send } = await prepared({
        roleClaim: 'teams',
        roleMappings: [
          { roleArn: `${ROLE}last`, claim: 'all' },
          { roleArn: READER, claim: 'readers', priority: 20 },
          { roleArn: `${ROLE}second`, claim: 'readers', priority: 20 },
          { roleArn: ADMIN, claim: 'admins', priority: -1 },
        ],
      });
      expect(await send(callerOf('ada', { teams: ['all', 'readers', 'admins'] }))).toBe(ADMIN);
      expect(await send(callerOf('bob', { teams: ['readers', 'all'] }))).toBe(READER);
      expect(await send(callerOf('eve', { teams: 'all' }))).toBe(`${ROLE}last`);
      await expect(send(callerOf('eve', { groups: ['admins'] }, 'other-token'))).rejects.toThrow(
        'backend "aws" has no AWS role for this caller, and no fallbackRoleArn',
      );
      expect(sts.requests).toHaveLength(3);
    },
  );

  proves('vmcp.aws-sts.role-mappings-matcher', 'are chosen by CEL expressions over the claims', async () => {
    const { send } = await prepared({
      roleMappings: [
        { roleArn: ADMIN, matcher: 'claims.email.endsWith("@corp.example") && claims.level + 1 > 5' },
        { roleArn: READER, matcher: '"readers" in claims.groups' },
      ],
    });
    expect(await send(callerOf('ada', { email: 'ada@corp.example', level: 5 }))).toBe(ADMIN);
    expect(await send(callerOf('bob', { groups: ['readers'] }))).toBe(READER);
    await expect(send(callerOf('eve', { email: 'eve@corp.example' }))).rejects.toThrow('has no AWS role');
  });

  proves('vmcp.aws-sts.service', 'sign for the configured service, and by default for aws-mcp', async () => {
    const { sts, authorizer } = await prepared({ fallbackRoleArn: READER, service: 'execute-api' });
    const request = requestTo();
    await authorizer.apply(request, contextOf(callerOf('ada')));
    expect(roleAt(request, sts, 'execute-api')).toBe(READER);
    expect(roleAt(request, sts)).toBeUndefined();
  });

  it('are cached per caller until shortly before their end, and requested once for requests at the same time', async () => {
    const { sts, send, pass } = await prepared({ fallbackRoleArn: READER });
    await Promise.all([send(callerOf('ada')), send(callerOf('ada')), send(callerOf('bob'))]);
    expect(sts.requests.map(({ RoleSessionName }) => RoleSessionName).sort()).toEqual(['ada', 'bob']);
    pass(3_500_000);
    await send(callerOf('ada'));
    expect(sts.requests).toHaveLength(2);
    pass(80_000);
    await send(callerOf('ada'));
    expect(sts.requests).toHaveLength(3);
  });

  it('never outlive the token that they were made from', async () => {
    const { sts, send, pass } = await prepared({ fallbackRoleArn: READER });
    const ada = callerOf('ada', { exp: Date.now() / 1000 + 60 });
    await send(ada);
    pass(61_000);
    await send(ada);
    expect(sts.requests).toHaveLength(2);
  });

  it('are requested again after the backend refused them', async () => {
    const { sts, authorizer, send, pass } = await prepared({ fallbackRoleArn: READER });
    const ada = callerOf('ada');
    await send(ada);
    sts.revokeAll();
    expect(await send(ada)).toBeUndefined();
    pass(6_000);
    expect(authorizer.refused?.(requestTo().backend, ada)).toBe(true);
    expect(await send(ada)).toBe(READER);
    expect(sts.requests).toHaveLength(2);
  });

  it('are not needed for the requests of the gateway itself, which are not signed', async () => {
    const { sts, authorizer } = await prepared({ fallbackRoleArn: READER });
    const gateway: Caller = { issuer: '', subject: 'gateway', key: '\0gateway', claims: {} };
    const request = requestTo();
    await authorizer.apply(request, contextOf(gateway, 'discovery'));
    expect(request.headers.authorization).toBeUndefined();
    expect(sts.requests).toEqual([]);
    await expect(authorizer.apply(request, contextOf(gateway))).rejects.toThrow('this caller has no token');
  });
});

describe('a signature', () => {
  it('has the date of the request and the scope of region and service', async () => {
    const request: BackendRequest = {
      backend: { name: 'aws', transport: 'streamable-http' },
      method: 'POST',
      url: 'https://example.amazonaws.com/',
      body: Buffer.from('Param1=value1'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const credentials = {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      sessionToken: 'token',
    };
    const sts = { sessionOf: () => ({ secret: credentials.secretAccessKey, token: 'token', role: 'r' }) };
    await signRequest(request, credentials, { region: REGION, service: 'service' }, Date.UTC(2015, 7, 30, 12, 36));
    expect(request.headers['x-amz-date']).toBe('20150830T123600Z');
    expect(roleAt(request, sts as unknown as AwsSts, 'service')).toBe('r');
  });

  it('covers body, path, query and method', async () => {
    const { sts, send } = await prepared({ fallbackRoleArn: READER });
    const request = requestTo('/a%20b/mcp?x=1&x=2&y=%2F', randomBytes(100_000));
    expect(await send(callerOf('ada'), request)).toBe(READER);
    const changed: BackendRequest[] = [
      { ...request, body: Buffer.from('other') },
      { ...request, url: request.url.replace('/mcp', '/admin') },
      { ...request, url: request.url.replace('x=1', 'x=3') },
      { ...request, url: request.url.replace('mcp.example', 'other.example') },
      { ...request, method: 'DELETE' },
      { ...request, headers: { ...request.headers, 'content-type': 'text/plain' } },
    ];
    expect(changed.map((each) => roleAt(each, sts))).toEqual(changed.map(() => undefined));
  });

  it('is refused for a request of more than 10 MiB', async () => {
    const { send } = await prepared({ fallbackRoleArn: READER });
    const large = requestTo('/mcp', Buffer.alloc(10 * 1024 * 1024 + 1));
    await expect(send(callerOf('ada'), large)).rejects.toThrow('signs requests of at most 10485760 bytes');
  });
});

describe('answers of STS', () => {
  it.each([
    ['ExpiredTokenException', 400, 'AUTH_STRATEGY_REFUSED', /token has expired/],
    ['InvalidIdentityToken', 400, 'AUTH_STRATEGY_REFUSED', /does not accept the caller's token/],
    ['AccessDenied', 403, 'AUTH_STRATEGY_REFUSED', /denies the caller the role/],
    ['RegionDisabledException', 403, 'AUTH_STRATEGY_FAILED', /disabled in the configured region/],
    ['SomethingNew', 400, 'AUTH_STRATEGY_FAILED', /answered with status 400/],
  ])('%s becomes a fault without the token and the text of AWS', async (error, status, code, message) => {
    const { sts, send } = await prepared({ fallbackRoleArn: READER });
    sts.refusal = [status, error];
    const fault = await send(callerOf('ada')).catch((cause: unknown) => cause);
    expect(fault).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(JSON.stringify([fault, (fault as Error).stack])).not.toMatch(/canary|token-of-ada/);
  });

  it('are remembered for a moment when they refuse, and an unavailable endpoint is a fault', async () => {
    const { sts, send, pass } = await prepared({ fallbackRoleArn: READER });
    sts.refusal = [403, 'AccessDenied'];
    await expect(send(callerOf('ada'))).rejects.toThrow('denies the caller the role');
    await expect(send(callerOf('ada'))).rejects.toThrow('denies the caller the role');
    expect(sts.requests).toHaveLength(1);
    sts.refusal = undefined;
    pass(3_000);
    expect(await send(callerOf('ada'))).toBe(READER);
    await sts[Symbol.asyncDispose]();
    await expect(send(callerOf('bob'))).rejects.toThrow('AWS STS is unavailable');
  });
});

describe('an STS endpoint with plain http', () => {
  it('gets no token on another machine', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL_STS', 'http://sts.example');
    const strategy = createAwsSts({ slot: pluginCore({}).slot, now: Date.now, environment: process.env });
    onTestFinished(() => strategy.close());
    const authorizer = await strategy.prepare({ region: REGION, fallbackRoleArn: READER }, 'outgoingAuth.default');
    const fault = await Promise.resolve(authorizer.apply(requestTo(), contextOf(callerOf('ada')))).catch(
      (cause: unknown) => cause,
    );
    expect(fault).toMatchObject({ code: 'AUTH_STRATEGY_FAILED', cause: { code: 'REMOTE_REFUSED' } });
  });
});

describe('names of role sessions', () => {
  it('are the claim when STS accepts it, and otherwise never the same for two callers', () => {
    expect(sessionNameFrom({ sub: 'ada@example.com' }, 'sub')).toBe('ada@example.com');
    const changed = ['auth0|x', 'auth0-x|', 'a', 'ü', 'x'.repeat(65), `${'x'.repeat(65)}y`, 'a b'].map((sub) =>
      sessionNameFrom({ sub }, 'sub'),
    );
    for (const name of changed) expect(name).toMatch(/^[\w+=,.@-]{2,64}$/);
    expect(new Set(changed).size).toBe(changed.length);
    expect(sessionNameFrom({ sub: 7 }, 'sub')).toBeUndefined();
    expect(sessionNameFrom({}, 'constructor')).toBeUndefined();
  });
});

describe('matchers', () => {
  it.each([
    ['claims.email.matches("^(a+)+$")', /exponential time/],
    ['claims.email.matches(claims.pattern)', /expected a text as the pattern/],
    ['has(claims.a) && [1].exists(x, claims.b.matches("(x+x+)+y"))', /exponential time/],
    ['foo == 1', /Unknown variable: foo/],
    ['claims.a +', /expected a CEL expression/],
    ['1 + 1', /true or false, got int/],
    [`claims.a == "${'x'.repeat(2_000)}"`, /at most 2000 characters/],
  ])('%s is refused at the start', (expression, message) => {
    expect(matcherProblem(expression, 2_000)).toMatch(message);
  });

  it('see only the claims: no members of objects of the host', () => {
    for (const expression of [
      'claims.constructor == 1',
      'has(claims.__proto__)',
      'claims.toString == 1',
      'claims.size() == 9',
    ]) {
      expect(matcherProblem(expression, 2_000)).toBeUndefined();
      expect(compileMatcher(expression)({ a: 1 })).toBe(false);
    }
    expect(compileMatcher('claims.a == 1')({ a: 1 })).toBe(true);
  });
});

describe('options that cannot work', () => {
  it.each([
    [{}, /set roleMappings, fallbackRoleArn or both/],
    [{ fallbackRoleArn: 'reader' }, /fallbackRoleArn: expected the ARN of a role/],
    [{ fallbackRoleArn: READER, region: 'eu.evil.example/' }, /region: expected an AWS region/],
    [{ roleMappings: [{ roleArn: READER, claim: 'a', matcher: 'true' }] }, /exactly one of claim and matcher/],
    [{ roleMappings: [{ roleArn: READER }] }, /exactly one of claim and matcher/],
    [
      { fallbackRoleArn: READER, subjectProviderName: 'x' },
      /names an upstream provider, and there is no authorization server/,
    ],
    [{ fallbackRoleArn: READER, fallBackRoleArn: READER }, /did you mean "fallbackRoleArn"/],
  ])('%j is refused with its place', async (options, message) => {
    expect(await refusalOf(options)).toMatch(message);
  });
});
