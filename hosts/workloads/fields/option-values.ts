import { secretKeyProblem, VARIABLE_REFERENCE } from '@toolmgr/plugins/kit/secrets';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { endpointPrefix } from '@toolmgr/plugins/kit/workloads';
import { MEMORY_FORM, memoryBytes } from '@toolmgr/plugins/kit/workloads/permissions';
import { InvalidArgumentError } from 'commander';
import { booleanFrom } from '../../shared/program-command.ts';

// Readers of option values. No message repeats a value, because it may be secret.

/** `KEY=VALUE`, repeated: one record. */
export function readPair(text: string, before: unknown): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected KEY=VALUE');
  return { ...(before as Record<string, string> | undefined), [text.slice(0, at)]: text.slice(at + 1) };
}

/** A comma-separated list, repeated: one list without blanks and repetitions. */
export function readList(text: string, before: unknown): string[] {
  const given = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return [...new Set([...((before as string[] | undefined) ?? []), ...given])];
}

/** A comma-separated list of `key=value`. */
export function readPairs(text: string): Record<string, string> {
  const pairs = readList(text, []).map((part) => part.split(/=(.*)/s, 2).map((piece) => piece.trim()));
  if (pairs.some(([key = '', value]) => key === '' || value === undefined))
    throw new InvalidArgumentError('expected key=value,key=value');
  return Object.fromEntries(pairs);
}

/** A size of memory, kept as text. */
export function readMemory(text: string): string {
  if (memoryBytes(text) !== undefined) return text;
  throw new InvalidArgumentError(MEMORY_FORM);
}

/** Makes a reader of numbers of at least 0. */
export function readAmount(form: RegExp, expected: string): (text: string) => number {
  return (text) => {
    if (form.test(text)) return Number(text);
    throw new InvalidArgumentError(`expected ${expected}; 0 means no limit`);
  };
}

/** What follows `=` of a boolean option. */
export function readBoolean(text: string): boolean {
  const value = booleanFrom(text);
  if (value !== undefined) return value;
  throw new InvalidArgumentError('expected true or false');
}

/** Makes a reader of port numbers. */
export function readPort(lowest: number): (text: string) => number {
  return (text) => {
    const port = Number(text);
    if (/^\d{1,5}$/.test(text) && port >= lowest && port <= 65_535) return port;
    throw new InvalidArgumentError(`expected a number from ${lowest} to 65535`);
  };
}

/** A path before the paths of the endpoint. */
export function readPrefix(text: string): string {
  const read = endpointPrefix.safeParse(text);
  if (read.success) return text;
  throw new InvalidArgumentError(read.error.issues[0]?.message ?? 'expected a path');
}

/** A Go duration, kept as text; zero means the default. */
export function readDuration(text: string): string {
  if (durationMs(text) !== undefined) return text;
  throw new InvalidArgumentError('expected a duration with a unit, such as 2h or 30m; 0 means the default');
}

/** A share from 0.0 to 1.0, kept as text. */
export function readRate(text: string): string {
  if (/^(0|1|0?\.\d+|0\.\d*|1\.0*)$/.test(text)) return text;
  throw new InvalidArgumentError('expected a number from 0.0 to 1.0');
}

/** A repeated option: all its values, in order. */
export function readRepeated(text: string, before: unknown): string[] {
  return [...((before as string[] | undefined) ?? []), text];
}

/** `NAME,target=VARIABLE`, repeated: all of them, in order. */
export function readSecretReference(text: string, before: unknown): string[] {
  if (VARIABLE_REFERENCE.test(text)) return readRepeated(text, before);
  throw new InvalidArgumentError('expected NAME,target=VARIABLE: the name of a secret and of a variable, no value');
}

/** `Header=SECRET`, repeated: one record. */
export function readSecretHeader(text: string, before: unknown): Record<string, string> {
  const read = readPair(text, before);
  if (Object.values(read).every((name) => secretKeyProblem(name) === undefined)) return read;
  throw new InvalidArgumentError('expected NAME=SECRET: the name of a header and of a secret, no value');
}

/** `hostPort:containerPort` or `containerPort`, repeated. */
export function readPublish(text: string, before: unknown): string[] {
  const ports = text.split(':').map(Number);
  const areGood = /^\d{1,5}(:\d{1,5})?$/.test(text) && ports.every((port) => port >= 1 && port <= 65_535);
  if (!areGood) throw new InvalidArgumentError('expected hostPort:containerPort or containerPort, from 1 to 65535');
  return readRepeated(text, before);
}

/** A URL that begins with http or https. */
export function readWebUrl(text: string): string {
  const { protocol } = URL.parse(text) ?? {};
  if (protocol === 'https:' || protocol === 'http:') return text;
  throw new InvalidArgumentError('expected a URL that begins with https');
}

/** A Go duration above zero, kept as text. */
export function readLoginTime(text: string): string {
  if ((durationMs(text) ?? 0) > 0) return text;
  throw new InvalidArgumentError('expected a duration above zero, such as 30s or 5m');
}
