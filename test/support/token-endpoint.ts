import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One received request: its form, and its client by HTTP Basic. */
export interface TokenRequest {
  readonly form: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly client: { readonly id: string; readonly secret: string } | undefined;
}

/** Data of an issued token. */
export interface IssuedTo {
  readonly subject: string;
  readonly audience: string | undefined;
  readonly scope: string | undefined;
}

/** A token endpoint over real HTTP with RFC 8693 and client credentials, with a record of requests. */
export interface TokenEndpoint extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly requests: TokenRequest[];
  /** Accepted caller tokens and their subjects. */
  readonly subjects: Map<string, string>;
  /** Seconds in `expires_in`; `undefined` leaves it out. */
  lifetime: number | undefined;
  /** Members that override those of a success response. */
  answer: Record<string, unknown>;
  /** Answers instead of the default; `true` = answered. */
  before: ((request: TokenRequest, response: ServerResponse) => boolean) | undefined;
  /** Data of an issued token; `undefined` for an unknown or revoked one. */
  introspect(token: string): IssuedTo | undefined;
  /** Revokes all tokens. */
  revokeAll(): void;
  /** Delays responses until the returned function is called. */
  hold(): () => void;
}

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Starts an endpoint on a free or given loopback port. `clients` are ids and secrets; without them no client authentication is needed. */
export async function tokenEndpoint(
  options: { readonly clients?: Readonly<Record<string, string>>; readonly port?: number } = {},
): Promise<TokenEndpoint> {
  const { clients = {} } = options;
  const issued = new Map<string, IssuedTo>();
  let gate: Promise<void> = Promise.resolve();
  let count = 0;
  const grant = (request: TokenRequest): [number, Record<string, unknown>] => {
    const { form, client } = request;
    const id = client?.id ?? form.client_id;
    const known = id !== undefined && Object.hasOwn(clients, id) && clients[id] === client?.secret;
    if (Object.keys(clients).length > 0 && !known) return [401, { error: 'invalid_client' }];
    const subject = subjectOf(request, self.subjects, id);
    if (subject === undefined) return [400, { error: 'invalid_grant', error_description: `bad ${form.subject_token}` }];
    const token = `issued.${subject}.${++count}`;
    issued.set(token, { subject, audience: form.audience, scope: form.scope });
    const kind = form.grant_type === EXCHANGE ? { issued_token_type: form.requested_token_type } : {};
    const life = self.lifetime === undefined ? {} : { expires_in: self.lifetime };
    return [200, { access_token: token, token_type: 'Bearer', ...kind, ...life, ...self.answer }];
  };
  const server = createServer(async (message, response) => {
    const request = await read(message);
    self.requests.push(request);
    await gate;
    if (self.before?.(request, response) === true) return;
    const [status, body] = grant(request);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const self: TokenEndpoint = {
    url: `http://127.0.0.1:${port}/token`,
    port,
    requests: [],
    subjects: new Map(),
    lifetime: 3600,
    answer: {},
    before: undefined,
    introspect: (token) => issued.get(token),
    revokeAll: () => issued.clear(),
    hold() {
      let release = (): void => undefined;
      gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      return release;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return self;
}

function subjectOf(
  { form }: TokenRequest,
  subjects: ReadonlyMap<string, string>,
  client: string | undefined,
): string | undefined {
  if (form.grant_type === 'client_credentials') return client;
  if (form.grant_type !== EXCHANGE || form.subject_token_type === undefined) return undefined;
  return subjects.get(form.subject_token ?? '');
}

async function read(message: IncomingMessage): Promise<TokenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
  return { form, contentType: message.headers['content-type'], client: clientFrom(message.headers.authorization) };
}

function clientFrom(header: string | undefined): TokenRequest['client'] {
  if (header?.startsWith('Basic ') !== true) return undefined;
  const [id = '', secret = ''] = Buffer.from(header.slice(6), 'base64').toString('utf8').split(':');
  // RFC 6749 §2.3.1: both are form-encoded
  const plain = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
  return { id: plain(id), secret: plain(secret) };
}
