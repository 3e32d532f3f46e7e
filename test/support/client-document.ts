import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type Certificates, certificates } from './certificates.ts';
import { loopbackServer } from './loopback-server.ts';

/** The metadata document of a client at an https URL, which is its client id. */
export interface ClientDocument extends AsyncDisposable {
  readonly id: string;
}

/** Serves a document; this process trusts its certificate from now on. */
export async function clientDocument(metadata: object): Promise<ClientDocument> {
  trusted ??= trust(certificates());
  const server = await loopbackServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ client_id: id, ...metadata }));
  }, trusted);
  const id = `${server.url}/client.json`;
  return { id, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** One authority for the whole process: all have the same name, and only the first of a name is tried. */
let trusted: Certificates | undefined;

function trust(made: Certificates): Certificates {
  setDefaultCACertificates([...getCACertificates('default'), made.ca]);
  return made;
}

/** The metadata of a public client with one redirect URI. */
export function publicClient(redirect: string): object {
  return {
    client_name: 'Client of a test',
    redirect_uris: [redirect],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}
