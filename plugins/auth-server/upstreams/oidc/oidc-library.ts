import { createOutageLog, type JsonObject } from '@toolmgr/core';
import {
  allowInsecureRequests,
  type ClientAuth,
  type Configuration,
  customFetch,
  discovery,
  type ExportedJWKSCache,
  enableNonRepudiationChecks,
  getJwksCache,
  type CustomFetch as Send,
  setJwksCache,
} from 'openid-client';
import { providerFault, translated } from '../failures.ts';
import { loadInBackground } from '../loaded-value.ts';
import { authenticated, type ProviderClient, supportedBy } from '../provider/provider-client.ts';
import { libraryFetch } from '../provider/provider-http.ts';
import { textsIn, usedMetadata } from '../provider/provider-metadata.ts';
import { addressRules } from '../provider/provider-urls.ts';
import type { UpstreamParts } from '../upstream-parts.ts';

/** The time for one sign-in leg or one refresh. */
export const BUDGET_MS = 30_000;

/** The library `openid-client`, configured for one provider by its discovery document. */
export interface OidcLibrary {
  /** The members of the discovery document that may be used. @throws GatewayFault while it cannot be loaded */
  document(signal: AbortSignal): Promise<JsonObject>;
  /**
   * Calls `run` with the library's configuration for one request; `send` makes the function that sends it.
   * @throws GatewayFault without a discovery document, and what `run` throws
   */
  use<T>(
    send: (document: JsonObject) => Send,
    signal: AbortSignal,
    run: (library: Configuration) => Promise<T>,
  ): Promise<T>;
  close(): void;
}

/** Configures the library for `issuerUrl`. The discovery document is loaded in the background. */
export function createOidcLibrary(parts: UpstreamParts, issuerUrl: string, configured: ProviderClient): OidcLibrary {
  const { provider, http, log, now } = parts;
  const { name } = provider;
  const rulesOf = addressRules(provider);
  let keys: ReturnType<typeof getJwksCache>;

  const documents = loadInBackground<JsonObject>({
    load: (signal) => loadDocument(signal),
    outage: createOutageLog(
      { log, now },
      {
        began: 'an upstream provider cannot be discovered',
        over: 'the upstream provider is discovered',
        fields: { upstream: name },
      },
    ),
    now,
    what: `upstream ${name}: discovery of ${issuerUrl}`,
  });

  async function loadDocument(signal: AbortSignal): Promise<JsonObject> {
    let document: JsonObject = {};
    const read = (body: JsonObject) => {
      document = usedMetadata(body, rulesOf);
      return document;
    };
    await translated(name, 'fault', () => discovered(libraryFetch(http, signal, read)));
    const missing = REQUIRED.find((member) => document[member] === undefined);
    if (missing === undefined) return document;
    throw providerFault(name, `its discovery document has no ${missing} that may be used`);
  }

  /** The library's checks of a document; with a fetch function that answers a kept one there is no request. */
  function discovered(send: Send, auth?: ClientAuth): Promise<Configuration> {
    return discovery(new URL(issuerUrl), configured.id, undefined, auth, {
      [customFetch]: send,
      execute: [allowInsecureRequests], // the rules of `http` decide
      timeout: BUDGET_MS / 1000,
    });
  }

  /** The library's configuration for one request. */
  async function library(document: JsonObject, auth: ClientAuth, send: Send): Promise<Configuration> {
    const made = await discovered(async () => Response.json(document), auth);
    made[customFetch] = send;
    enableNonRepudiationChecks(made); // the signature of ID tokens
    if (keys !== undefined) setJwksCache(made, keys);
    return made;
  }

  return {
    document: (signal) => documents.get(signal),
    async use(send, signal, run) {
      const document = await documents.get(signal);
      const client = supportedBy(configured, supportedMethods(document));
      return authenticated(client, async (auth) => {
        const made = await library(document, auth, send(document));
        try {
          return await run(made);
        } finally {
          keys = renewable(getJwksCache(made));
        }
      });
    },
    close: () => documents.close(),
  };
}

const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/**
 * Kept keys, dated back by the minute in which the library does not fetch keys again for an ID token with an unknown one: only the
 * provider's own token endpoint can cause such a fetch.
 */
function renewable(keys: ExportedJWKSCache | undefined): ExportedJWKSCache | undefined {
  return keys && { ...keys, uat: Math.min(keys.uat, Math.floor(Date.now() / 1000) - NO_FETCH_S) };
}

const NO_FETCH_S = 60;

function supportedMethods(document: JsonObject): readonly string[] | undefined {
  const listed = document.token_endpoint_auth_methods_supported;
  return listed === undefined ? undefined : textsIn(listed);
}
