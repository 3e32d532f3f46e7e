import { readFile } from 'node:fs/promises';
import { type Caller, isObject, type JsonObject, parsedJson } from '@toolmgr/core';
import { UsageError } from '../../shared/usage-error.ts';

/**
 * The callers of a JSON file: the claims of one person, or a list of them. Shape: `{"sub": "ada", "groups": ["ops"]}`; `iss` is the
 * issuer.
 * @throws UsageError naming the file when it cannot be read, or claims have no `sub`
 */
export async function readPeople(file: string): Promise<readonly Caller[]> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read (${cause.code ?? 'unknown error'})`);
  });
  const value = parsedJson(text);
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  return all.map((claims, index) => {
    if (isObject(claims) && typeof claims.sub === 'string' && claims.sub !== '') return callerOf(claims, claims.sub);
    const place = Array.isArray(value) ? `entry ${index}: ` : '';
    throw new UsageError(`${file}: ${place}expected an object of claims with "sub", such as {"sub": "ada"}`);
  });
}

/** A caller with these claims and no token: nothing is called with it. */
export function callerOf(claims: JsonObject, subject: string): Caller {
  const { iss, name } = claims;
  const issuer = typeof iss === 'string' ? iss : '';
  return { issuer, subject, key: `${issuer}\0${subject}`, claims, ...(typeof name === 'string' ? { name } : {}) };
}
