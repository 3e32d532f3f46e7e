import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { testClient } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { cli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { runScript } from '../../support/scripted-gateway.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;

describe('codeMode of a vmcp file', () => {
  proves(
    ['vmcp.code-mode.enabled', 'vmcp.surface.execute-tool-script'],
    'offers scripts over real servers when it is enabled, and explain knows the tool',
    async () => {
      const folder = temporaryFolder('code-mode');
      const memory = join(
        import.meta.dirname,
        '../../../node_modules/@modelcontextprotocol/server-memory/dist/index.js',
      );
      const write = async (enabled: boolean | undefined): Promise<string> => {
        const env = { MEMORY_FILE_PATH: join(folder, 'memory.json') };
        const program = { transport: 'stdio', command: { file: process.execPath, args: [memory], env } };
        const codeMode = { ...(enabled === undefined ? {} : { enabled }), scriptTimeout: '30s' };
        return writeVmcpFile(await mkdtemp(join(folder, 'file-')), { memory: program }, { codeMode });
      };
      const file = await write(true);
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      const client = await testClient((request) => fetch(request), url);
      await until(async () => (await client.toolNames()).includes('memory_read_graph'));
      const script = `await memory.create_entities({ entities: data.names.map((name) => ({ name, entityType: 'person', observations: [] })) });
        const { entities } = await memory.read_graph();
        return entities.map(({ name }) => name);`;
      expect((await runScript(client, script, { names: ['ada', 'bob'] })).value).toEqual(['ada', 'bob']);
      const told = await cli(['vmcp', 'explain', 'execute_tool_script', '-c', file]);
      expect(told).toMatchObject({ code: 0, out: expect.stringContaining('code-mode/execute-script') });
      for (const enabled of [false, undefined]) {
        const without = await cli(['vmcp', 'explain', 'execute_tool_script', '-c', await write(enabled)]);
        expect(without.out + without.err).toMatch(/no tool is named execute_tool_script/);
      }
    },
    LONG,
  );
});
