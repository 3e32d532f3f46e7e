import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markProcess } from '@toolmgr/plugins/kit/files';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { chooseEndpoint } from '../../../../hosts/shared/client/choose-endpoint.ts';
import { type GatewayRecord, writeRecord } from '../../../../hosts/shared/running/gateway-record.ts';

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'toolmgr-endpoint-')), 'gateways');
  await mkdir(folder, { mode: 0o700 });
});
afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

/** A gateway that runs as long as this process. */
const runs = async (id: string, url?: string): Promise<void> => {
  const record = { id, name: id, version: '1', kind: 'up', startedAt: `2026-01-0${id.length}T00:00:00Z` } as const;
  const socket = join(folder, `${id}.sock`);
  const mark = (await markProcess(process.pid)) as GatewayRecord['process'];
  await writeRecord(folder, { ...record, socket, process: mark, ...(url === undefined ? {} : { url }) });
};
const chosen = async (asked: Parameters<typeof chooseEndpoint>[0] = {}) => (await chooseEndpoint(asked, folder)).url;
const ONE = 'http://127.0.0.1:5001/mcp';
const TWO = 'http://127.0.0.1:5002/mcp';

it('without a URL the endpoint is the only gateway that listens, then the one at the default port, and never a guess', async () => {
  expect(await chosen()).toBe('http://127.0.0.1:4483/mcp');
  await runs('stdio');
  expect(await chosen()).toBe('http://127.0.0.1:4483/mcp');
  await runs('one', ONE);
  expect(await chosen()).toBe(ONE);
  await runs('two', TWO);
  await expect(chosen()).rejects.toThrow(/several gateways run; choose one:\n {2}--gateway 500[12] .*\/mcp\n.*\/mcp/);
  await runs('usual', 'http://127.0.0.1:4483/here');
  expect(await chosen()).toBe('http://127.0.0.1:4483/here');
});

it('a URL or a gateway that the user names is used whatever else runs', async () => {
  await runs('one', ONE);
  await runs('two', TWO);
  await runs('stdio');
  expect(await chosen({ url: 'https://mcp.example.com/mcp' })).toBe('https://mcp.example.com/mcp');
  expect(await chooseEndpoint({ url: 'http://localhost:5002/mcp' }, folder)).toMatchObject({ record: { name: 'two' } });
  expect(await chosen({ gateway: 'two' })).toBe(TWO);
  await expect(chosen({ gateway: 'stdio' })).rejects.toThrow(
    'gateway stdio serves one client over stdio and has no URL',
  );
  await expect(chosen({ gateway: 'three' })).rejects.toThrow('no gateway three runs');
});
