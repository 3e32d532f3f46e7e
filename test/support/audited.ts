import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject, PlanInput, Plugin } from '@toolmgr/core';
import { type TestBackends, type TestGateway, testGateway } from '@toolmgr/core/testing';
import audit from '../../plugins/audit/index.ts';
import { loopbackServer } from './loopback-server.ts';
import { until } from './until.ts';

/** The members of an audit line that tests check. */
export interface AuditLine {
  readonly type: string;
  readonly outcome: string;
  readonly msg: string;
  readonly source: { readonly type: string; readonly value?: string; readonly extra: Readonly<Record<string, string>> };
  readonly subjects: Readonly<Record<string, string>>;
  readonly target: Readonly<Record<string, string>>;
  readonly metadata: { readonly extra: Readonly<Record<string, string | number | boolean>> };
  readonly delegation?: JsonObject;
  readonly data?: JsonObject;
}

/** A gateway with the audit plugin, which writes to a file, behind a real HTTP server. */
export interface Audited extends AsyncDisposable {
  readonly kit: TestGateway;
  readonly url: string;
  readonly logFile: string;
  /** The current text of the file. */
  text(): Promise<string>;
  /** The lines, once there are at least `atLeast`. */
  lines(atLeast?: number): Promise<AuditLine[]>;
}

/** Settings that differ from the defaults. */
export interface AuditedOptions {
  /** Configuration of the audit plugin, except the file. */
  readonly config?: object;
  readonly plugins?: readonly Plugin[];
  readonly plan?: Partial<PlanInput>;
}

export async function audited(
  backends: TestBackends,
  { config = {}, plugins = [], plan = {} }: AuditedOptions = {},
): Promise<Audited> {
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-audit-'));
  const logFile = join(folder, 'audit.log');
  const uses = [...plugins.map(({ address }) => ({ use: address })), { use: 'audit', with: { logFile, ...config } }];
  const kit = await testGateway({ backends, plugins: [...plugins, audit], plan: { ...plan, plugins: uses } });
  const server = await loopbackServer((request, response) => kit.gateway.handle(request, response));
  const text = (): Promise<string> => readFile(logFile, 'utf8');
  return {
    kit,
    url: `${server.url}/mcp`,
    logFile,
    text,
    async lines(atLeast = 1) {
      await until(async () => (await text()).split('\n').length > atLeast);
      return linesOf(await text());
    },
    async [Symbol.asyncDispose]() {
      await kit[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Decodes the lines of a file; throws on an incomplete line. */
export function linesOf(text: string): AuditLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);
}

/** Replaces what differs between runs: times and ids become letters, equal ids the same letter. */
export function golden(lines: readonly AuditLine[]): string {
  const ids = new Map<string, string>();
  const named = (id: string): string => {
    const name = ids.get(id) ?? `id-${ids.size + 1}`;
    ids.set(id, name);
    return name;
  };
  const steady = (key: string, value: unknown): unknown => {
    if (key === 'time' || key === 'logged_at') return 'TIME';
    if (key === 'audit_id') return 'UUID';
    if (key === 'duration_ms') return 0;
    if (key === 'response_size_bytes') return value === 0 ? 0 : 'BYTES';
    if (key === 'request_id' || key === 'session_id') return named(String(value));
    return value;
  };
  return lines.map((line) => `${JSON.stringify(line, steady)}\n`).join('');
}
