import { PROBLEMS, type Problem, problemBody } from '@toolmgr/plugins/management';
import type { FastifyReply } from 'fastify';

/** Media type of every refusal (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** Sends a refusal. */
export function sendProblem(reply: FastifyReply, refused: Problem): FastifyReply {
  const { status } = PROBLEMS[refused.problem];
  return reply
    .code(status)
    .type(PROBLEM_TYPE)
    .send(JSON.stringify(problemBody(refused)));
}
