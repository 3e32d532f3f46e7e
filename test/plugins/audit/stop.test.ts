import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { linesOf } from '../../support/audited.ts';
import { startCli } from '../../support/cli.ts';
import { postModern } from '../../support/endpoint-door.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';

const REQUESTS = 400;

proves(
  ['choice.audit.stop', 'vmcp.audit.log-file'],
  'a gateway that gets SIGTERM right after its last reply has written a line for every request',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolmgr-audit-stop-'));
    const logFile = join(folder, 'audit.log');
    await using server = await recordingServer();
    const file = join(folder, 'vmcp.yaml');
    const config = {
      name: 'audited',
      groupRef: 'g',
      incomingAuth: { type: 'anonymous' },
      outgoingAuth: { source: 'inline' },
      aggregation: { conflictResolution: 'prefix' },
      backends: [{ name: 'one', url: server.url, transport: 'streamable-http' }],
      audit: { enabled: true, logFile, eventTypes: ['mcp_tools_list'] },
    };
    await writeFile(file, stringify(config));
    await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
    const [, url = ''] = await serving.printed(/serves (http:\S+)/);
    const replies = await Promise.all(Array.from({ length: REQUESTS }, () => postModern(url, 'tools/list')));
    serving.signal('SIGTERM');
    expect((await serving.finished).code).toBe(0);
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(linesOf(await readFile(logFile, 'utf8')).length).toBe(REQUESTS);
    await rm(folder, { recursive: true });
  },
  60_000,
);
