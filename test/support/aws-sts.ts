import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { loopbackServer } from './loopback-server.ts';

/** One AssumeRoleWithWebIdentity request. */
export type AssumeRoleForm = Readonly<Record<string, string>>;

/** STS over real HTTP (query API of 2011-06-15) for AssumeRoleWithWebIdentity, with a record of requests. */
export interface AwsSts extends AsyncDisposable {
  readonly url: string;
  readonly requests: AssumeRoleForm[];
  /** `authorization` headers of all requests. */
  readonly authorizations: (string | undefined)[];
  /** Accepted web identity tokens. */
  readonly tokens: Set<string>;
  /** Answers instead of the default: status and error code. */
  refusal: readonly [status: number, code: string] | undefined;
  /** Milliseconds from now to the end of the credentials. */
  lifetimeMs: number;
  /** The session of credentials that are still valid. */
  sessionOf(
    accessKeyId: string,
  ): { readonly secret: string; readonly token: string; readonly role: string } | undefined;
  /** Ends all sessions. */
  revokeAll(): void;
}

/** Starts it on a free loopback port. */
export async function awsSts(now: () => number = Date.now): Promise<AwsSts> {
  const sessions = new Map<string, { secret: string; token: string; role: string }>();
  let count = 0;
  const answer = (form: AssumeRoleForm): readonly [number, string] => {
    const { refusal } = self;
    if (refusal !== undefined) return [refusal[0], errorXml(refusal[1])];
    if (form.Action !== 'AssumeRoleWithWebIdentity') return [400, errorXml('InvalidAction')];
    if (!self.tokens.has(form.WebIdentityToken ?? '')) return [400, errorXml('InvalidIdentityToken')];
    const id = `ASIA${++count}`;
    sessions.set(id, { secret: `secret/${count}+`, token: `session-token-${count}`, role: form.RoleArn ?? '' });
    return [200, issuedXml(id, sessions.get(id) ?? never(), new Date(now() + self.lifetimeMs))];
  };
  const server = await loopbackServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(body));
      self.requests.push(form);
      self.authorizations.push(request.headers.authorization);
      const [status, text] = answer(form);
      response.writeHead(status, { 'content-type': 'text/xml' }).end(text);
    });
  });
  const self: AwsSts = {
    url: server.url,
    requests: [],
    authorizations: [],
    tokens: new Set(),
    refusal: undefined,
    lifetimeMs: 3_600_000,
    sessionOf: (id) => sessions.get(id),
    revokeAll: () => sessions.clear(),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
    },
  };
  return self;
}

/** A received request whose signature is checked. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query as received. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Computes the signature of a request from the AWS documentation ("Create a signed AWS API request"), without the library of
 * the product. Returns the role of its credentials, or `undefined` when the signature is wrong.
 */
export function roleOfSignature(
  { method, target, headers, body }: SignedRequest,
  sts: Pick<AwsSts, 'sessionOf'>,
  scope: { readonly region: string; readonly service: string },
): string | undefined {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/;
  const [, id = '', day = '', region, service, names = '', given] = parts.exec(headers.authorization ?? '') ?? [];
  const session = sts.sessionOf(id);
  const stamp = headers['x-amz-date'];
  if (session === undefined || typeof stamp !== 'string' || !stamp.startsWith(day)) return undefined;
  if (region !== scope.region || service !== scope.service) return undefined;
  const signed = names.split(';');
  if (!['host', 'x-amz-date', 'x-amz-security-token'].every((name) => signed.includes(name))) return undefined;
  if (headers['x-amz-security-token'] !== session.token) return undefined;
  const [path = '/', query = ''] = target.split('?');
  const canonical = [
    method,
    path.split('/').map(encodeURIComponent).join('/'),
    [...new URLSearchParams(query)]
      .map((pair) => pair.map(encodeURIComponent).join('='))
      .sort()
      .join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const credential = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', stamp, credential, sha256(canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${session.secret}`);
  return hmac(key, text).toString('hex') === given ? session.role : undefined;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

function issuedXml(id: string, { secret, token }: { secret: string; token: string }, end: Date): string {
  return (
    '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>' +
    `<Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey>` +
    `<SessionToken>${token}</SessionToken><Expiration>${end.toISOString()}</Expiration></Credentials>` +
    '</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>'
  );
}

function errorXml(code: string): string {
  return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>${code}</Code><Message>canary-text-of-aws</Message></Error></ErrorResponse>`;
}

function never(): never {
  throw new Error('unreachable');
}
