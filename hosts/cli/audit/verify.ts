import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type ChainReport, createChainChecks } from '@toolmgr/plugins/kit/audit-chain';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { auditLines, withRotatedParts } from '../../vmcp/audit-files.ts';

/** Options of `audit verify`. */
export interface VerifyOptions {
  readonly rotated?: boolean;
  readonly key?: string;
  readonly format: 'text' | 'json';
}

/** Checks the chain of audit files, and prints what is wrong. Exit code 1 when there is a problem. */
export async function verify(given: readonly string[], { rotated, key, format }: VerifyOptions): Promise<void> {
  const checks = createChainChecks(key === undefined ? undefined : await publicKeyOf(key));
  for await (const { file, line, text } of auditLines(rotated === true ? await withRotatedParts(given) : given)) {
    checks.add(file, line, text);
  }
  const report = checks.report();
  const problems = [
    ...report.problems.map(({ file, line, problem }) => `${file}:${line}: ${problem}`),
    ...lackOf(report, key),
  ];
  const isValid = problems.length === 0;
  if (format === 'json') stdout.json({ valid: isValid, ...report, isSigned: key !== undefined && isValid });
  else {
    for (const problem of problems) stdout.line(`${stdout.red('problem')} ${problem}`);
    if (report.moreProblems > 0) stdout.line(`${stdout.red('problem')} and ${report.moreProblems} more`);
    if (isValid) stdout.line(`${stdout.green('ok')} ${report.lines} lines, numbers ${report.first} to ${report.last}`);
    for (const note of notesOf(report, key)) stderr.line(`${stderr.yellow('note')} ${note}`);
  }
  if (!isValid) process.exitCode = EXIT_CODES.failed.code;
}

async function publicKeyOf(file: string): Promise<KeyObject> {
  const pem = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`--key ${file} cannot be read (${cause.code ?? 'unknown error'})`);
  });
  const key = readKey(pem);
  if (key !== undefined && SIGNING.has(key.asymmetricKeyType ?? '')) return key;
  throw new UsageError(`--key ${file}: expected the PEM of a public key: Ed25519, EC or RSA`);
}

const SIGNING: ReadonlySet<string> = new Set(['ed25519', 'ec', 'rsa']); // others verify nothing

function readKey(pem: Buffer): KeyObject | undefined {
  try {
    return createPublicKey(pem);
  } catch {
    return undefined;
  }
}

/** What is missing as a whole: a file without any chain or signature must not count as proven. */
function lackOf({ first, checkpoints }: ChainReport, key: string | undefined): readonly string[] {
  if (first === undefined) return ['no line has a place in a chain: the gateway wrote them without audit.chain'];
  if (key !== undefined && checkpoints === 0)
    return ['no checkpoint is signed: without one the whole chain may be forged'];
  return [];
}

function notesOf({ first, checkpoints, unsigned }: ChainReport, key: string | undefined): readonly string[] {
  if (first === undefined) return [];
  const before = first > 0 ? [`the lines before number ${first} are not in these files`] : [];
  if (key === undefined) {
    const what = checkpoints === 0 ? 'the chain has no checkpoints' : `${checkpoints} checkpoints were not verified`;
    return [...before, `${what}${checkpoints === 0 ? '' : ': give the public key with --key'}`];
  }
  return unsigned === 0 ? before : [...before, `no checkpoint signs the last ${unsigned} lines`];
}
