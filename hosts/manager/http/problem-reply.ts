import { PROBLEMS, type Problem, problemBody } from '@toolmgr/plugins/kit/operations';
import type { FastifyReply } from 'fastify';
import { sendJson } from './json-reply.ts';

/** Media type of every refusal (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/** Sends a refusal. */
export function sendProblem(reply: FastifyReply, refused: Problem): FastifyReply {
  const { status } = PROBLEMS[refused.problem];
  return sendJson(reply.code(status), JSON.stringify(problemBody(refused)), PROBLEM_TYPE);
}
