import { join } from 'node:path';
import { createGateway } from '@toolmgr/core';
import { loadVmcpFile } from 'toolmgr';

const { plan, options, warnings } = await loadVmcpFile(join(import.meta.dirname, 'vmcp.yaml'));
for (const warning of warnings) console.warn(warning);

export const gateway = await createGateway(plan, options);
