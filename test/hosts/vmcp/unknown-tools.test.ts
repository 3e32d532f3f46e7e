import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { cli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { readText } from '../../support/vmcp-text.ts';

const LONG = 120_000;
const BACKEND = join(import.meta.dirname, '../stdio/backend.mjs');
const BUCKET = { maxTokens: 5, refillPeriod: '1m' };
let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder('unknown');
  file = join(folder, 'vmcp.yaml');
});

const configOf = (backends: Readonly<Record<string, string>>, more: object) =>
  stringify({
    name: 'dev',
    groupRef: 'dev',
    incomingAuth: { type: 'anonymous' },
    outgoingAuth: { source: 'inline' },
    aggregation: {},
    backends: Object.entries(backends).map(([name, url]) => ({ name, url, transport: 'streamable-http' })),
    ...more,
  });
const step = (tool: string, more: object = {}) => ({ id: 's', tool, ...more });

describe('tools that a file names', () => {
  proves(
    ['ask.vmcp.unknown-step-tool', 'ask.vmcp.unknown-limited-tool'],
    'cause warnings with their line when no listed backend can have them, without a connection',
    async () => {
      const warningsOf = async (more: object) =>
        (await readText(configOf({ github: 'http://a.test', jira: 'http://b.test' }, more), 'v.yaml')).warnings;
      const steps = (...tools: string[]) => ({
        compositeTools: tools.map((tool, n) => ({ name: `c${n}`, steps: [step(tool)] })),
      });
      expect(await warningsOf(steps('githb.search'))).toEqual([
        expect.stringMatching(
          /^v\.yaml:\d+: compositeTools\[0\]\.steps\[0\]\.tool: no backend is named "githb", did you mean "github"\?$/,
        ),
      ]);
      const each = { id: 'f', type: 'forEach', collection: '{{ .params.all }}', step: { tool: 'gitlab.get' } };
      expect(await warningsOf({ compositeTools: [{ name: 'all', steps: [each] }] })).toEqual([
        expect.stringContaining('steps[0].step.tool: no backend is named "gitlab"'),
      ]);
      // a name with a backend, an advertised name, an original name, another composite tool
      expect(await warningsOf(steps('github.search', 'jira_get.issue', 'search', 'c0'))).toEqual([]);
      const limits = (...tools: string[]) => ({
        rateLimiting: { tools: tools.map((name) => ({ name, shared: BUCKET })) },
      });
      expect(await warningsOf(limits('github_search', 'search'))).toEqual([
        expect.stringMatching(
          /rateLimiting\.tools\[1\]\.name: no tool is named "search": names begin with github_ or jira_/,
        ),
      ]);
      const priority = {
        aggregation: { conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: ['jira'] } },
      };
      expect(await warningsOf({ ...limits('search'), ...priority })).toEqual([]);
      expect(await warningsOf({ ...limits('c0', 'execute_tool_script'), ...steps('github.search') })).toEqual([]);
    },
  );

  proves(
    ['ask.vmcp.unknown-step-tool', 'ask.vmcp.unknown-limited-tool', 'ask.vmcp.validate-connect'],
    'are checked against the lists of the backends by validate --connect and by the start',
    async () => {
      await using server = await recordingServer();
      const more = {
        compositeTools: [
          { name: 'good', steps: [step('one.echo')] },
          { name: 'bad', steps: [step('one.ecko')] },
        ],
        rateLimiting: { tools: [{ name: 'one_ecko', shared: BUCKET }] },
      };
      await writeFile(file, configOf({ one: server.url }, more));
      const offline = await cli(['vmcp', 'validate', '-c', file]);
      expect([offline.code, offline.err]).toEqual([0, '']);
      const asked = await cli(['vmcp', 'validate', '--connect', '-c', file, '--format', 'json']);
      expect(asked.code).toBe(0);
      const { warnings } = JSON.parse(asked.out) as { warnings: string[] };
      const COMPOSITE = 'composite tool "bad" is not listed: no backend offers one.ecko';
      const LIMITED = 'rate-limit: tools[0].name names tool "one_ecko", which does not exist, did you mean "one_echo"?';
      expect(warnings.sort()).toEqual([COMPOSITE, LIMITED]);

      await using running = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const logged = () => running.err().replaceAll('\\"', '"'); // in no order with "backend ready"
      for (const warning of [COMPOSITE, LIMITED]) await until(() => logged().includes(warning));
    },
    LONG,
  );

  proves(
    'ask.vmcp.validate-connect',
    'are checked for conflicts, and unavailable backends are named, before anything is served',
    async () => {
      await using server = await recordingServer();
      const manual = { aggregation: { conflictResolution: 'manual', tools: [{ workload: 'one' }] } };
      await writeFile(file, configOf({ one: server.url, two: server.url }, manual));
      const collided = await cli(['vmcp', 'validate', '--connect', '-c', file]);
      expect([collided.code, collided.err]).toEqual([
        1,
        expect.stringMatching(/unresolved tool name conflicts: .*: \[one, two\]/),
      ]);
      await writeFile(file, configOf({ one: server.url, gone: 'http://127.0.0.1:1/mcp' }, {}));
      const away = await cli(['vmcp', 'validate', '--connect', '-c', file]);
      expect([away.code, away.err]).toEqual([0, expect.stringContaining('backend gone is unavailable: ')]);
    },
    LONG,
  );

  proves(
    'ask.vmcp.validate-connect',
    'are checked for a program that starts later than a client would wait',
    async () => {
      const program = `setTimeout(() => import(${JSON.stringify(BACKEND)}), 500)`;
      const slow = { name: 'slow', transport: 'stdio', command: { file: process.execPath, args: ['-e', program] } };
      const tools = [{ workload: 'slow', filter: ['ecko'] }];
      await writeFile(file, configOf({}, { backends: [slow], limits: { discoveryMs: 50 }, aggregation: { tools } }));
      const asked = await cli(['vmcp', 'validate', '--connect', '-c', file]);
      expect([asked.code, asked.err]).toEqual([0, expect.stringMatching(/^warning .*ecko/)]);
      const explained = await cli(['vmcp', 'explain', 'slow.echo', '-c', file]);
      expect(explained.out).toContain('slow (stdio, ready');
    },
    LONG,
  );
});
