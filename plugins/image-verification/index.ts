import { definePlugin } from '@toolmgr/core';
import { signatureVerifiers } from '@toolmgr/plugins/kit/oci';
import { z } from 'zod';

const ADDRESS = 'image-verification';

export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'verifies signatures of skills and images by Sigstore',
  config: z.strictObject({}),
  apply(core) {
    // 20 MB of Sigstore, which a manager that verifies nothing does not need
    core
      .slot(signatureVerifiers)
      .register(ADDRESS, async () => (await import('./signature-verifier.ts')).signatureVerifier);
  },
});
