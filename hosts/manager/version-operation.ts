import { type Operation, operation } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';

/** `GET /api/v1beta/version`. */
export function versionOperation(version: string): Operation {
  return operation({
    id: 'getVersion',
    method: 'GET',
    path: '/api/v1beta/version',
    tag: 'version',
    summary: 'Get the version of the program',
    answers: {
      200: {
        description: 'the version',
        schema: z.strictObject({ version: z.string().describe('version of toolmgr: `v` and a semantic version') }),
        example: { version: 'v0.1.0' },
      },
    },
    problems: [],
    async run() {
      return { status: 200, body: { version: `v${version}` } };
    },
  });
}
