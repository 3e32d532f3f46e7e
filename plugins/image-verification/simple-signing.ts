import { createHash } from 'node:crypto';
import { isObject, parsedJson } from '@toolmgr/core';
import type { FoundSignature } from '@toolmgr/plugins/kit/oci';

/** A layer of a manifest. */
export interface Layer {
  readonly mediaType: string;
  readonly digest: string;
  readonly annotations: Readonly<Record<string, unknown>>;
}

/**
 * A signature of cosign before version 3 as a Sigstore bundle: a layer with the signed text, and annotations with the signature, the
 * certificate and the entry of the transparency log. `undefined` when it is of another kind or has no certificate.
 *
 * Source: cosign, signature specification.
 */
export function simpleSignature({ mediaType, annotations }: Layer, signed: Buffer): FoundSignature | undefined {
  if (mediaType !== 'application/vnd.dev.cosign.simplesigning.v1+json') return undefined;
  const signature = annotations['dev.cosignproject.cosign/signature'];
  const certificate = derOf(annotations['dev.sigstore.cosign/certificate']);
  const log = objectOf(annotations['dev.sigstore.cosign/bundle']);
  if (typeof signature !== 'string' || certificate === undefined) return undefined;
  const entry = isObject(log?.Payload) ? log.Payload : undefined;
  return {
    signed,
    isSimpleSigning: true,
    bundle: {
      mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
      verificationMaterial: {
        x509CertificateChain: { certificates: [{ rawBytes: certificate }] },
        tlogEntries:
          entry === undefined
            ? []
            : [
                {
                  logIndex: String(entry.logIndex),
                  logId: { keyId: Buffer.from(String(entry.logID), 'hex').toString('base64') },
                  kindVersion: { kind: 'hashedrekord', version: '0.0.1' },
                  integratedTime: String(entry.integratedTime),
                  inclusionPromise: { signedEntryTimestamp: log?.SignedEntryTimestamp },
                  canonicalizedBody: entry.body,
                },
              ],
      },
      messageSignature: {
        messageDigest: { algorithm: 'SHA2_256', digest: createHash('sha256').update(signed).digest('base64') },
        signature,
      },
    },
  };
}

/** The base64 of the first certificate in a PEM text. */
function derOf(pem: unknown): string | undefined {
  if (typeof pem !== 'string') return undefined;
  return /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/.exec(pem)?.[1]?.replace(/\s/g, '');
}

function objectOf(text: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof text !== 'string') return undefined;
  const value = parsedJson(text);
  return isObject(value) ? value : undefined;
}
