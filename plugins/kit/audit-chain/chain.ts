import { createHash, type KeyObject, sign } from 'node:crypto';

/** Where a chain continues: the number of the next line, and the hash of the last one. */
export interface ChainEnd {
  readonly next: number;
  /** `''` when there is no line before. */
  readonly previous: string;
}

/**
 * Adds to each line its number and the hash of the line before it, so that a changed, missing or moved line is noticed.
 *
 * Shape of a line: the JSON object with a last member `"chain":{"n":17,"previous":"…"}`; `previous` is the SHA-256 of the whole line before
 * without its line break, base64url. A checkpoint has also `signature`, over {@link signedText}.
 */
export interface AuditChain {
  /** The line with its place in the chain, and with a line break. */
  add(line: string): string;
  /** A line that signs all lines before it; `undefined` without a key, or without a line since the last one. */
  checkpoint(atMs: number): string | undefined;
  /** Lines since the last checkpoint; 0 without a key. */
  readonly unsigned: number;
  /** Where another chain would continue. */
  readonly end: ChainEnd;
}

/** Continues a chain. `key`: an Ed25519, EC or RSA private key that signs checkpoints. */
export function createAuditChain(end: ChainEnd, component: string, key: KeyObject | undefined): AuditChain {
  let { next, previous } = end;
  let unsigned = 0;
  const add = (line: string, more = ''): string => {
    const chained = `${line.slice(0, line.lastIndexOf('}'))},"chain":{"n":${next},"previous":"${previous}"${more}}}`;
    next += 1;
    previous = hashOfLine(chained);
    unsigned += 1;
    return `${chained}\n`;
  };
  return {
    add,
    checkpoint(atMs) {
      if (key === undefined || unsigned === 0) return undefined;
      const at = new Date(atMs).toISOString();
      const head = { time: at, level: 'AUDIT', msg: 'audit_checkpoint', logged_at: at, component };
      const signature = sign(digestFor(key), signedText(component, next, previous), key).toString('base64url');
      const line = add(JSON.stringify(head), `,"signature":"${signature}"`);
      unsigned = 0;
      return line;
    },
    get unsigned() {
      return key === undefined ? 0 : unsigned;
    },
    get end() {
      return { next, previous };
    },
  };
}

/** Whether a value can be the number of a line. */
export function isPlace(n: unknown): n is number {
  return Number.isSafeInteger(n) && (n as number) >= 0;
}

/** SHA-256 of a line without its line break, base64url. */
export function hashOfLine(line: string | Buffer): string {
  return createHash('sha256').update(line).digest('base64url');
}

/** What the checkpoint with number `n` signs: all lines before it, by the hash of the last one. */
export function signedText(component: string, n: number, previous: string): Buffer {
  return Buffer.from(`toolmgr audit checkpoint\n${JSON.stringify(component)}\n${n}\n${previous}`);
}

/** The digest for `sign` and `verify`; Ed25519 has its own. */
export function digestFor({ asymmetricKeyType }: KeyObject): 'sha256' | null {
  return asymmetricKeyType === 'ed25519' ? null : 'sha256';
}
