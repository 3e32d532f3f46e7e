import { createGateway } from '@toolmgr/core';
import { embedded } from './embedded.ts';

export const gateway = await createGateway(
  { name: 'embedded', plugins: [{ use: embedded.address }] },
  { plugins: [embedded] },
);
