import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { cli, startCli } from '../../support/cli.ts';
import { otlpReceiver } from '../../support/otlp-receiver.ts';
import { prometheusSamples } from '../../support/prometheus-text.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { tracedServer } from '../../support/traced-server.ts';
import { until } from '../../support/until.ts';
import { writeVmcpFile } from '../../support/vmcp-file.ts';

const LONG = 120_000;

describe('telemetry of a vmcp file', () => {
  proves(
    ['vmcp.telemetry.prometheus-path', 'choice.telemetry.reload'],
    'is served while the file enables it, and sends pending data when the file disables it',
    async () => {
      const folder = temporaryFolder('telemetry');
      await using docs = await tracedServer();
      await using collector = await otlpReceiver();
      const file = join(folder, 'vmcp.yaml');
      const write = (more: object) => writeVmcpFile(folder, { docs: docs.url }, more);
      const telemetry = {
        endpoint: collector.address,
        insecure: true,
        headers: { 'X-Key': 'hunter2' },
        tracingEnabled: true,
        metricsEnabled: true,
        samplingRate: '1',
        enablePrometheusMetricsPath: true,
      };
      await write({ telemetry });
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      const metricsUrl = `${new URL(url).origin}/metrics`;
      await serving.printed(/backend ready/);
      expect((await cli(['call', 'docs_echo', 'message=hi', '--url', url])).out).toBe('{"message":"hi"}\n');
      const page = await fetch(metricsUrl);
      const calls = prometheusSamples(await page.text()).find(({ name }) => name === 'toolmgr_mcp_tool_calls_total');
      expect(calls).toMatchObject({ labels: { server: 'dev-vmcp', tool: 'docs_echo', status: 'success' }, value: 1 });

      await write({});
      await serving.printed(/configuration reloaded/);
      const gone = await fetch(metricsUrl);
      expect(gone.status).toBe(404);
      await gone.body?.cancel();
      await until(() => collector.spans.some(({ name }) => name === 'tools/call docs_echo'));
      // metrics are exported once a minute, so these were exported by the stop
      await until(() => collector.points.some(({ name }) => name === 'toolmgr_mcp_tool_calls'));
      const sent = collector.exports.length;
      await cli(['call', 'docs_echo', '--url', url]);
      serving.signal('SIGTERM');
      const { code, err, out } = await serving.finished;
      expect(code).toBe(0);
      expect(collector.exports).toHaveLength(sent);
      expect(err + out).not.toContain('hunter2');
    },
    LONG,
  );
});
