import { runConfig } from '@toolmgr/plugins/kit/workloads';
import { detailOf } from './detail.ts';
import { exportedConfig } from './exported-config.ts';

/** Examples of the OpenAPI document. */
export const EXAMPLE_SUMMARY = {
  name: 'fetch',
  group: 'default',
  status: 'running',
  status_context: '',
  url: 'http://127.0.0.1:34567/mcp',
  port: 34_567,
  transport_type: 'stdio',
  proxy_mode: 'streamable-http',
  package: 'ghcr.io/example/fetch:1.2.0',
  remote: false,
  labels: {},
  tools: [],
  created_at: '2026-01-01T10:00:00.000Z',
  started_at: '2026-01-01T10:00:01.000Z',
};

export const EXAMPLE_BODY = {
  name: 'fetch',
  image: 'ghcr.io/example/fetch:1.2.0',
  transport: 'stdio',
  env_vars: { LOG_LEVEL: 'info' },
  secrets: [{ name: 'fetch-token', target: 'TOKEN' }],
  group: 'default',
};

const EXAMPLE_CONFIG = runConfig.parse({
  schema_version: 'v0.1.0',
  name: 'fetch',
  transport: 'stdio',
  image: 'ghcr.io/example/fetch:1.2.0',
  env_vars: { LOG_LEVEL: 'info' },
  secrets: ['fetch-token,target=TOKEN'],
  isolate_network: true,
});

export const EXAMPLE_EXPORT = exportedConfig(EXAMPLE_CONFIG);

export const EXAMPLE_DETAIL = detailOf(EXAMPLE_CONFIG, 34_567);
