import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate authority and its server certificate for `127.0.0.1`, `::1`, `localhost` and `far.test`; all PEM. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Makes both, valid from yesterday for a week. Encodes DER by hand (RFC 5280), because Node can only read certificates. */
export function certificates(): Certificates {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const isAuthority = extension('551d13', true, sequence(der(0x01, Buffer.from([0xff]))));
  const names = extension(
    '551d11',
    false,
    sequence(
      der(0x82, Buffer.from('localhost')),
      der(0x82, Buffer.from('far.test')),
      der(0x87, Buffer.from([127, 0, 0, 1])),
      der(0x87, Buffer.from([...new Array(15).fill(0), 1])),
    ),
  );
  const issuer = named('toolmgr test authority');
  const ca = certificate(issuer, issuer, authority.publicKey, authority.privateKey, isAuthority);
  const cert = certificate(issuer, named('localhost'), server.publicKey, authority.privateKey, names);
  return { ca, cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));

function certificate(issuer: Buffer, subject: Buffer, key: KeyObject, signer: KeyObject, more: Buffer): string {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    issuer,
    sequence(utcTime(Date.now() - DAY_MS), utcTime(Date.now() + 7 * DAY_MS)),
    subject,
    key.export({ type: 'spki', format: 'der' }) as Buffer,
    der(0xa3, sequence(more)),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, signer)]);
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, signature)).toString('base64');
  const lines = whole.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function named(name: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(name)))));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, value: Buffer): Buffer {
  const size = value.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}
