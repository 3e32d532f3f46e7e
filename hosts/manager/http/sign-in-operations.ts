import { type Operation, operation, problem } from '@toolmgr/plugins/kit/operations';
import { z } from 'zod';
import type { PageTokens } from './page-tokens.ts';

const expires = z.iso.datetime().describe('when it ends');

/** `POST /api/v1beta/page/codes`: needs a token. */
export function pageCodeOperation(tokens: PageTokens): Operation {
  return operation({
    id: 'createPageCode',
    method: 'POST',
    path: '/api/v1beta/page/codes',
    tag: 'page',
    summary: 'Make a code that signs the page in once',
    description: 'The page is opened as `/#code=CODE`: browsers do not send what follows `#`.',
    answers: {
      201: {
        description: 'the code; it can be exchanged once within five minutes',
        schema: z.strictObject({ code: z.string(), expires_at: expires }),
        example: { code: 'q0c1uT2H5mZ8yO7r4nA9sD3fG6hJ1kLx', expires_at: '2026-08-01T10:05:00.000Z' },
      },
    },
    problems: [],
    async run() {
      return { status: 201, body: tokens.newCode() };
    },
  });
}

/** `POST /api/v1beta/page/sign-in`: the code is the credential. */
export function pageSignInOperation(tokens: PageTokens): Operation {
  return operation({
    id: 'signPageIn',
    method: 'POST',
    path: '/api/v1beta/page/sign-in',
    tag: 'page',
    summary: 'Exchange a code for a token of the page',
    body: z.strictObject({ code: z.string().min(1).max(128).describe('from the link that toolmgr serve prints') }),
    bodyExample: { code: 'q0c1uT2H5mZ8yO7r4nA9sD3fG6hJ1kLx' },
    answers: {
      200: {
        description: 'the token, for the header Authorization',
        schema: z.strictObject({ token: z.string(), expires_at: expires }),
        example: { token: 'page.1785578400000.SIGNATURE', expires_at: '2026-08-02T10:00:00.000Z' },
      },
    },
    problems: ['unauthorized'],
    async run({ body: { code } }) {
      const found = tokens.redeem(code);
      if (found !== undefined) return { status: 200, body: found };
      return problem('unauthorized', 'the link was used before or has expired: toolmgr serve --open makes a new one');
    },
  });
}
