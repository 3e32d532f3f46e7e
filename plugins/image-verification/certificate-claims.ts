import type { Signer } from '@sigstore/verify';
import type { CertificateClaims } from '@toolmgr/plugins/kit/oci';

/** Source: Fulcio, "OID information" (1.3.6.1.4.1.57264.1). The last of each list is an older form. */
const OIDS = {
  repositoryUri: ['12'],
  repositoryRef: ['14', '6'],
  runnerEnvironment: ['11'],
} as const;
const OLD_REPOSITORY = '5';
const PREFIX = '1.3.6.1.4.1.57264.1';

/** Reads the claims of a signer whose certificate was verified; an absent one is empty. */
export function claimsOf({ identity = {} }: Signer): CertificateClaims {
  const values = new Map((identity.oids ?? []).map(({ oid, value }) => [oid?.id.join('.') ?? '', value] as const));
  const read = (...numbers: readonly string[]): string => {
    const value = numbers.map((number) => values.get(`${PREFIX}.${number}`)).find((each) => each !== undefined);
    return value === undefined ? '' : textOf(value);
  };
  const old = read(OLD_REPOSITORY);
  return {
    identity: identity.subjectAlternativeName ?? '',
    issuer: identity.extensions?.issuer ?? '',
    repositoryUri: read(...OIDS.repositoryUri) || (old === '' ? '' : `https://github.com/${old}`),
    repositoryRef: read(...OIDS.repositoryRef),
    runnerEnvironment: read(...OIDS.runnerEnvironment),
  };
}

/** New extensions are DER UTF8String, old ones the text itself. */
function textOf(value: Buffer): string {
  const isDer = value[0] === UTF8_STRING && value.length >= 2;
  if (!isDer) return value.toString('utf8');
  const short = value[1] ?? 0;
  if (short < 0x80) return value.length === short + 2 ? value.subarray(2).toString('utf8') : value.toString('utf8');
  return value.subarray(2 + (short & 0x7f)).toString('utf8');
}

const UTF8_STRING = 0x0c;
