import type { OperatorSettings } from '../../settings.ts';
import { createVirtualMcpServerController } from './controller.ts';
import { INFORMERS } from './watches.ts';

/** VirtualMCPServers, as a part of the operator. */
export function virtualMcpServers({ image, imagePullSecrets, isOpenShift, redis }: OperatorSettings) {
  const defaults = { imagePullSecrets, ...(redis === undefined ? {} : { redis }) };
  return {
    controllers: [createVirtualMcpServerController({ pods: { image, isOpenShift }, defaults })],
    informers: INFORMERS,
  };
}
