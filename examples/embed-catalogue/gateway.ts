import { createGateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';

const memory = {
  name: 'memory',
  transport: 'stdio',
  command: { file: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
};

export const gateway = await createGateway(
  {
    name: 'embedded',
    plugins: [
      { use: 'incoming-auth/anonymous' }, // everyone may call
      { use: 'outgoing-auth/unauthenticated' },
      { use: 'backend-sources/static', with: { backends: [memory] } },
      { use: 'aggregation', with: { conflictResolution: 'prefix' } },
    ],
    limits: { discoveryMs: 60_000 }, // the first list waits this long for npx, which downloads the package
  },
  { catalogue },
);
