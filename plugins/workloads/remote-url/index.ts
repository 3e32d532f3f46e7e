import { type Backend, definePlugin, GatewayFault } from '@toolmgr/core';
import { type WorkloadHandle, type WorkloadSpec, workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { heldWorkload } from '@toolmgr/plugins/kit/workloads';
import { z } from 'zod';

const ADDRESS = 'workloads/remote-url';

/** Serves remote servers as workloads. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'Serves a remote MCP server with a URL as a workload.',
  config: z
    .strictObject({
      addresses: z
        .enum(['public', 'network'])
        .optional()
        .describe(
          'where the host of the URL may lead: to public addresses, or to private ones too; without it, anywhere',
        ),
    })
    .prefault({}),
  apply(core, { addresses }) {
    core.slot(workloadRuntimes).register('remote-url', { start: async (spec) => remoteWorkload(spec, addresses) });
  },
});

/** Nothing is started: the status is running until the workload is stopped, also when its server does not respond. */
function remoteWorkload(spec: WorkloadSpec, addresses: Backend['addresses']): WorkloadHandle {
  const url = checkedUrl(spec);
  if (spec.transport === 'stdio') throw refusal(spec, 'a URL has the transport streamable-http or sse, not stdio');
  return heldWorkload(spec.name, { transport: spec.transport, url, ...(addresses === undefined ? {} : { addresses }) });
}

function checkedUrl(spec: WorkloadSpec): string {
  if (spec.url === undefined || !URL.canParse(spec.url)) throw refusal(spec, 'the remote runtime needs a URL');
  const url = new URL(spec.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw refusal(spec, 'its URL must begin with http or https');
  // credentials in a URL appear in logs and process lists
  if (url.username !== '' || url.password !== '')
    throw refusal(spec, 'its URL must not contain a user name or password');
  return spec.url;
}

function refusal(spec: WorkloadSpec, what: string): GatewayFault {
  return new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: ${what}`);
}
