import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';

/** How a push is signed: exactly one of these. */
export type SigningChoice =
  /** A PEM file with a private key: absolute path. */
  | { readonly kind: 'key'; readonly file: string }
  /** An OIDC identity token, for a certificate of Sigstore. It is sent to the certificate authority only. */
  | { readonly kind: 'identity-token'; readonly token: string }
  | { readonly kind: 'unsigned' };

/** Servers of Sigstore, and the environment. */
export interface SigningOptions {
  /** Certificate authority. Default: the public-good instance. */
  readonly fulcioUrl?: string;
  /** Transparency log. Default: the public-good instance. */
  readonly rekorUrl?: string;
  /** `TOOLMGR_SIGNING_KEY_PASSWORD` opens an encrypted key. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The predicate of a plain signature. Source: cosign 3. */
export const SIGNATURE_PREDICATE = 'https://sigstore.dev/cosign/sign/v1';

const REQUEST_MS = 20_000;
const KEY_BYTES = 64 * 1024;

/**
 * Signs the digest of an artifact as an in-toto statement: a Sigstore bundle as JSON, or `undefined` for an unsigned push.
 *
 * With a key nothing is sent to anyone. With an identity token, the certificate and the signature are in a public log.
 */
export async function signDigest(
  digest: string,
  choice: SigningChoice,
  options: SigningOptions,
): Promise<Buffer | Problem | undefined> {
  if (choice.kind === 'unsigned') return undefined;
  const { bundleToJSON } = await import('@sigstore/bundle');
  const { DSSEBundleBuilder, FulcioSigner, RekorWitness } = await import('@sigstore/sign');
  const limits = { timeout: REQUEST_MS, retry: 1 };
  const parts = async () => {
    if (choice.kind === 'key') {
      const key = await readKey(choice.file, options.env);
      return 'problem' in key ? key : { signer: keySigner(key.key), witnesses: [] };
    }
    const { fulcioUrl, rekorUrl } = options;
    return {
      signer: new FulcioSigner({
        identityProvider: { getToken: async () => choice.token },
        ...(fulcioUrl === undefined ? {} : { fulcioBaseURL: fulcioUrl }),
        ...limits,
      }),
      witnesses: [
        new RekorWitness({
          entryType: 'intoto',
          ...(rekorUrl === undefined ? {} : { rekorBaseURL: rekorUrl }),
          ...limits,
        }),
      ],
    };
  };
  const made = await parts();
  if ('problem' in made) return made;
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ digest: { sha256: digest.slice('sha256:'.length) } }],
    predicateType: SIGNATURE_PREDICATE,
    predicate: {},
  };
  try {
    const builder = new DSSEBundleBuilder({ ...made, certificateChain: false });
    const bundle = await before(
      options.signal,
      builder.create({ data: Buffer.from(JSON.stringify(statement)), type: 'application/vnd.in-toto+json' }),
    );
    return Buffer.from(JSON.stringify(bundleToJSON(bundle)));
  } catch (cause) {
    return signingProblem(cause, options.signal);
  }
}

function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return Promise.race([
    work,
    new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  ]);
}

/** Only the code is used: a message of the package can have the identity token. */
function signingProblem(cause: unknown, signal: AbortSignal): Problem {
  if (signal.aborted) return problem('upstream_timeout', 'The skill could not be signed in time.');
  const code = String((cause as { readonly code?: unknown }).code);
  const status = (cause as { readonly cause?: { readonly statusCode?: unknown } }).cause?.statusCode;
  const known: Readonly<Record<string, string>> = {
    IDENTITY_TOKEN_PARSE_ERROR: 'the identity token is not a JWT with a subject',
    CA_CREATE_SIGNING_CERTIFICATE_ERROR: 'the certificate authority issued no certificate for the identity token',
    TLOG_CREATE_ENTRY_ERROR: 'the transparency log did not take the signature',
    TLOG_FETCH_ENTRY_ERROR: 'the transparency log did not return the signature',
  };
  const detail = `The skill could not be signed: ${known[code] ?? 'the signing failed'}${typeof status === 'number' ? ` (status ${status})` : ''}.`;
  if (code === 'IDENTITY_TOKEN_PARSE_ERROR') return problem('bad_request', detail);
  if (status === 429) return problem('upstream_rate_limited', detail);
  const isRefused = typeof status === 'number' && status >= 400 && status < 500 && code.startsWith('CA_');
  return problem(isRefused ? 'upstream_unauthorized' : 'upstream_failed', detail);
}

async function readKey(file: string, env: NodeJS.ProcessEnv): Promise<{ readonly key: KeyObject } | Problem> {
  const refused = (why: string): Problem =>
    problem('bad_request', `The key ${JSON.stringify(file)} cannot be used: ${why}.`);
  if (!isAbsolute(file) || file.includes('\0')) return refused('expected an absolute path');
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > KEY_BYTES) return refused('it is too large for a key');
    text = await readFile(file, 'utf8');
  } catch (cause) {
    return refused(`it cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  }
  if (/ENCRYPTED (SIGSTORE|COSIGN) PRIVATE KEY/.test(text))
    return refused('it has the format of cosign; export it as PKCS #8 in PEM');
  const passphrase = env.TOOLMGR_SIGNING_KEY_PASSWORD;
  try {
    const key = createPrivateKey({ key: text, ...(passphrase === undefined ? {} : { passphrase }) });
    if (key.asymmetricKeyType === 'ec' || key.asymmetricKeyType === 'ed25519' || key.asymmetricKeyType === 'rsa')
      return { key };
    return refused('expected a key of the type EC, Ed25519 or RSA');
  } catch {
    return refused(
      'expected a private key in PEM, and its password in TOOLMGR_SIGNING_KEY_PASSWORD if it is encrypted',
    );
  }
}

function keySigner(key: KeyObject) {
  const publicKey = createPublicKey(key);
  return {
    sign: async (data: Buffer) => ({
      signature: sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', data, key),
      key: {
        $case: 'publicKey' as const,
        publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        hint: keyFingerprint(publicKey),
      },
    }),
  };
}

/** SHA-256 of a public key (SPKI, DER) in hex. */
export function keyFingerprint(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
