import { Readable } from 'node:stream';
import { explainCause, type Log } from '@toolmgr/core';
import {
  type Answer,
  isProblem,
  type Jobs,
  type Operation,
  type OperationContext,
  type Problem,
  type PublishEvent,
  problem,
} from '@toolmgr/plugins/kit/operations';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './access.ts';
import { sendJson } from './json-reply.ts';
import { HTTP_LIMITS, TIME_LIMITS_MS } from './limits.ts';
import { sendProblem } from './problem-reply.ts';
import { createRequestReader } from './read-request.ts';

/** What operations get from the host. */
export interface OperationHost {
  readonly jobs: Jobs;
  readonly publish: PublishEvent;
  readonly log: Log;
  /** Ends when the manager stops. */
  readonly signal: AbortSignal;
  /** Answers that do not fit their schema become faults: for tests. */
  readonly checksAnswers?: boolean;
}

/** Mounts an operation of the table as a route. */
export function mountOperation(app: FastifyInstance, operation: Operation, host: OperationHost): void {
  const read = createRequestReader(operation);
  let streams = 0;
  app.route({
    method: operation.method,
    url: routePath(operation.path),
    exposeHeadRoute: operation.method === 'GET' && operation.timeLimit !== 'stream',
    handler: async (request, reply) => {
      const parts = read(request);
      if ('problem' in parts) return sendProblem(reply, parts);
      const limit = timeLimit(operation, reply, host.signal);
      try {
        const context = contextFor(request, limit.signal, host);
        const answer = await Promise.race([operation.run({ ...parts, context } as never), limit.passed]);
        if (isProblem(answer)) return sendProblem(reply, answer);
        if (host.checksAnswers === true) checkAnswer(operation, answer);
        if (answer.stream !== undefined) {
          if (streams >= HTTP_LIMITS.streamsPerOperation) return sendProblem(reply, TOO_MANY_STREAMS);
          streams += 1;
          reply.raw.once('close', () => {
            streams -= 1;
          });
        }
        return sendAnswer(reply, operation, answer);
      } catch (cause) {
        if (limit.signal.aborted) return sendProblem(reply, problem('time_limit', timeLimitDetail(operation, host)));
        throw cause;
      } finally {
        limit.release();
      }
    },
  });
}

const TOO_MANY_STREAMS = problem(
  'too_many_streams',
  `${HTTP_LIMITS.streamsPerOperation} streams of this operation are open: close one`,
);

/** `/a/{name}` as fastify writes it: `/a/:name`. */
export function routePath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

function contextFor(request: FastifyRequest, signal: AbortSignal, host: OperationHost): OperationContext {
  const lastEventId = request.headers['last-event-id'];
  const ifMatch = request.headers['if-match'];
  return {
    signal,
    caller: callerOf(request),
    jobs: host.jobs,
    publish: host.publish,
    ...(typeof lastEventId === 'string' ? { lastEventId } : {}),
    ...(ifMatch === undefined ? {} : { ifMatch }),
  };
}

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Resolves with a refusal when the time has passed; an operation that ignores its signal does not hold the answer. */
  readonly passed: Promise<Problem>;
  release(): void;
}

function timeLimit(operation: Operation, reply: FastifyReply, stopping: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const { promise: passed, resolve } = Promise.withResolvers<Problem>();
  const limitMs = TIME_LIMITS_MS[operation.timeLimit ?? 'standard'];
  const timer =
    limitMs === undefined
      ? undefined
      : setTimeout(() => {
          resolve(problem('time_limit', limitSentence(limitMs)));
          abort();
        }, limitMs);
  const onClose = (): void => abort();
  reply.raw.once('close', onClose);
  stopping.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    passed,
    release() {
      clearTimeout(timer);
      if (operation.timeLimit === 'stream') return; // its signal ends with the connection
      stopping.removeEventListener('abort', abort);
      reply.raw.off('close', onClose);
    },
  };
}

function timeLimitDetail(operation: Operation, { signal }: OperationHost): string {
  if (signal.aborted) return 'the manager is stopping';
  return limitSentence(TIME_LIMITS_MS[operation.timeLimit ?? 'standard'] ?? 0);
}

function limitSentence(ms: number): string {
  return `the operation did not end within ${ms / 1_000} s; what it began may still be done, so read the state before you repeat it`;
}

/** @throws Error when the answer does not fit what the operation declares */
function checkAnswer(operation: Operation, { status, body, stream }: Answer): void {
  const declared = operation.answers[status];
  if (declared === undefined) throw new Error(`${operation.id} answered ${status}, which it does not declare`);
  if (stream !== undefined) return;
  if (declared.schema === undefined) {
    if (body !== undefined)
      throw new Error(`${operation.id} answered ${status} with a body, which it does not declare`);
    return;
  }
  const read = declared.schema.safeParse(body);
  if (!read.success)
    throw new Error(`${operation.id} answered ${status} with a wrong body: ${explainCause(read.error)}`);
}

function sendAnswer(reply: FastifyReply, operation: Operation, answer: Answer): FastifyReply {
  const { status, body, headers = {}, stream } = answer;
  const declared = operation.answers[status];
  reply.code(status).headers(headers);
  if (stream !== undefined) {
    return reply
      .type(declared?.mediaType ?? 'text/plain; charset=utf-8')
      .send(Readable.from(stream, { objectMode: false }));
  }
  if (body === undefined) return reply.send();
  if (typeof body === 'string' && declared?.mediaType === 'text/plain') {
    return reply.type('text/plain; charset=utf-8').send(body);
  }
  return sendJson(reply, JSON.stringify(body));
}
