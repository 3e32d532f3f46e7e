import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { BackendRequest } from '@toolmgr/core';
import type { AwsCredentials } from './assume-role.ts';

/** Headers that a signature adds. */
export const SIGNATURE_HEADERS = [
  'authorization',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
] as const;

/**
 * Signs one request with AWS Signature Version 4: method, path, query, host, content type and the hash of the body.
 * Adds {@link SIGNATURE_HEADERS} to its headers. Other headers are not signed, because they may change on the way.
 */
export async function signRequest(
  request: BackendRequest,
  credentials: AwsCredentials,
  scope: { readonly region: string; readonly service: string },
  nowMs: number,
): Promise<void> {
  const { protocol, hostname, port, host, pathname, searchParams } = new URL(request.url);
  const type = request.headers['content-type'];
  const signer = new SignatureV4({ ...scope, credentials, sha256: NodeSha256 });
  const { headers } = await signer.sign(
    {
      method: request.method,
      protocol,
      hostname,
      ...(port === '' ? {} : { port: Number(port) }),
      path: pathname,
      query: queryOf(searchParams),
      headers: { host, ...(type === undefined ? {} : { 'content-type': type }) },
      ...(request.body === undefined ? {} : { body: request.body }),
    },
    { signingDate: new Date(nowMs) },
  );
  for (const name of SIGNATURE_HEADERS) {
    const value = headers[name];
    if (value !== undefined) request.headers[name] = value;
  }
}

function queryOf(params: URLSearchParams): Record<string, string[]> {
  const query: Record<string, string[]> = {};
  for (const name of new Set(params.keys())) query[name] = params.getAll(name);
  return query;
}

/** SHA-256 and HMAC of Node in the shape that the signer takes. */
class NodeSha256 {
  #hash: Hash | Hmac;

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      key === undefined ? createHash('sha256') : createHmac('sha256', key as string | NodeJS.ArrayBufferView);
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string | NodeJS.ArrayBufferView);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('a hash of a request is used once');
  }
}
