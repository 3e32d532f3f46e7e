import { randomUUID } from 'node:crypto';
import {
  type Call,
  CallError,
  type CallResult,
  type Core,
  encode,
  explainCause,
  isObject,
  type JsonObject,
  type JsonValue,
  RawObject,
  resultFromValue,
  type StepOutput,
  shareOfCall,
  toolFailure,
} from '@toolmgr/core';
import { workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

import { coerceToSchema } from './coerce.ts';
import type { WorkflowStep } from './compile-step.ts';
import type { Workflow } from './compile-workflow.ts';
import { elicit, questionsResult, takeAnswers } from './elicit.ts';
import { MAX_QUESTION_MS, MAX_STATE_BYTES } from './limits.ts';
import { type RunContext, runWorkflow, type WorkflowEnd } from './run-workflow.ts';
import { StepFailure } from './step-failure.ts';
import type { SuspendedWorkflows } from './suspended-workflows.ts';
import { errorText, outputFromResult } from './tool-output.ts';
import { emptyMap, type StepState, type WorkflowState } from './workflow-state.ts';

/** A tool that steps may call, looked up when the catalogue is built. */
export interface StepTool {
  /** The name for inner calls; no other tool has it. */
  readonly innerName: string;
  readonly inputSchema: JsonValue | undefined;
}

/** What {@link answerCall} needs besides the call. */
export interface AnswerContext {
  readonly core: Pick<Core, 'hook' | 'log' | 'now' | 'perform'>;
  readonly waiting: SuspendedWorkflows;
  readonly workflow: Workflow;
  /** By the name that the steps use. */
  readonly tools: ReadonlyMap<string, StepTool>;
}

/**
 * Answers a call of a composite tool: starts a workflow, or resumes one with the client's answers.
 * @throws CallError -32602 for invalid arguments, and for a requestState that is unknown or expired
 */
export async function answerCall(context: AnswerContext, call: Call): Promise<CallResult> {
  const { core, workflow } = context;
  if (isRecursive(call)) return toolFailure(`Workflow error: ${workflow.name} was called by one of its own steps`);
  const isFirst = call.backendState === undefined;
  const state = isFirst ? begin(workflow, call, core.now()) : await resume(context, call);
  const tell = createReporter(core, call, state);
  if (isFirst) tell('started', { timeoutMs: workflow.timeoutMs, stepCount: workflow.stepCount });
  const end = await runToEnd(context, call, state, tell);
  if ('isWaiting' in end) {
    await context.waiting.keep(state, MAX_QUESTION_MS + GRACE_PERIOD_MS, shareOfCall(call));
    return resultFromValue(questionsResult(state.questions, state.id));
  }
  const totals = { durationMs: core.now() - state.startedMs, stepCount: workflow.stepCount, retryCount: state.retries };
  tell('output' in end ? 'completed' : 'failed' in end ? 'failed' : 'timed_out', totals);
  return resultOf(end);
}

const GRACE_PERIOD_MS = 60_000; // a late answer still resumes its workflow, as an elicitation that timed out

/** A script or another composite tool may call this one again, without end. */
function isRecursive(call: Call): boolean {
  const { backend, original } = call.target;
  for (let at = call.parent; at !== undefined; at = at.parent) {
    if (at.target.backend === backend && at.target.original === original) return true;
  }
  return false;
}

function begin(workflow: Workflow, call: Call, nowMs: number): WorkflowState {
  const read = workflow.parameters.read(call.arguments);
  if ('problem' in read) {
    throw new CallError({ code: -32602, message: `invalid arguments for ${workflow.name}: ${read.problem}` });
  }
  const steps = emptyMap<StepState>();
  for (const { id } of workflow.levels.flat()) steps[id] = { status: 'pending' };
  return {
    id: randomUUID(),
    name: workflow.name,
    digest: workflow.digest,
    startedMs: nowMs,
    params: read.params,
    status: 'running',
    steps,
    questions: emptyMap(),
    answers: emptyMap(),
    bytes: 0,
    retries: 0,
    skipsRest: false,
  };
}

/** The gateway has verified that `backendState` belongs to this caller; here it is the id of a suspended workflow. */
async function resume({ workflow, waiting }: AnswerContext, { backendState = '' }: Call): Promise<WorkflowState> {
  const state = await waiting.take(backendState);
  if (state === undefined || state.name !== workflow.name || state.digest !== workflow.digest) {
    throw new CallError({ code: -32602, message: 'requestState is invalid or expired' });
  }
  state.status = 'running';
  return state;
}

async function runToEnd(
  context: AnswerContext,
  call: Call,
  state: WorkflowState,
  tell: ReportChange,
): Promise<WorkflowEnd> {
  const { core, workflow } = context;
  const run: RunContext = {
    signal: call.signal,
    now: core.now,
    tell,
    stepsEnded: (count) => progress(call, count, workflow.stepCount),
    report: (step, cause) =>
      core.log.warn('a step of a composite tool failed', {
        tool: workflow.name,
        step: step.id,
        cause: explainCause(cause),
      }),
    running: (step, data, signal) => ({
      data,
      signal,
      timeoutMs: step.policy.timeoutMs,
      now: core.now,
      callTool: (name, given, own) =>
        callTool(context, call, state, step, name, given, own === undefined ? signal : AbortSignal.any([signal, own])),
      elicit: (form) => elicit(form, step, call, state, signal, core.now()),
    }),
  };
  try {
    if (call.backendState !== undefined) takeAnswers(state, call.inputResponses, core.now());
    return await runWorkflow(workflow, state, run);
  } catch (cause) {
    if (cause instanceof StepFailure) return { failed: cause.message };
    if (call.signal.aborted) return { failed: 'cancelled' };
    tell('failed', { durationMs: core.now() - state.startedMs, stepCount: workflow.stepCount });
    throw cause;
  }
}

async function callTool(
  { core, workflow, tools }: AnswerContext,
  call: Call,
  state: WorkflowState,
  step: WorkflowStep,
  name: string,
  given: JsonObject,
  signal: AbortSignal,
): Promise<StepOutput> {
  const tool = tools.get(name);
  if (tool === undefined) throw new StepFailure(`failed to route tool ${name} in step ${step.id}: tool not found`);
  const reply = await core.perform({
    parent: call,
    name: tool.innerName,
    arguments: coerceToSchema(given, tool.inputSchema) as JsonObject,
    signal,
    curated: !workflow.authorizesSteps,
  });
  const failed = (why: string): StepFailure =>
    new StepFailure(`tool call failed: tool ${name} in step ${step.id}: ${why}`, false);
  if ('refusal' in reply) throw failed(reply.refusal.reason);
  if ('error' in reply) throw failed(reply.error.message);
  const { result } = reply;
  if (result.isError) throw failed(errorText(result.value));
  if (result.resultType !== 'complete') throw failed(`unsupported result type ${result.resultType}`);
  state.bytes += result.bytes.length;
  if (state.bytes > MAX_STATE_BYTES) {
    throw new StepFailure(`the results of this workflow are larger than ${MAX_STATE_BYTES} bytes`);
  }
  return outputFromResult(result.value);
}

type ReportChange = RunContext['tell'];

function createReporter({ hook, now }: AnswerContext['core'], call: Call, state: WorkflowState): ReportChange {
  const advanced = hook(workflowAdvanced);
  if (!advanced.tapped()) return () => {};
  return (change, more, step) =>
    advanced.call({
      change,
      call,
      workflowId: state.id,
      workflowName: state.name,
      atMs: now(),
      ...(step === undefined ? {} : { step: described(step) }),
      ...more,
    });
}

function described({ id, type, tools: [tool] }: WorkflowStep) {
  return { id, type, ...(tool === undefined ? {} : { tool }) };
}

/** Sends progress to a client that asked for it; clients restart their request timeout on progress. */
function progress({ client }: Call, count: number, total: number): void {
  if (client.progressToken === undefined) return;
  const params = RawObject.empty()
    .with('progressToken', client.progressToken)
    .with('progress', encode(count))
    .with('total', encode(total));
  client.notify('notifications/progress', params.toBytes());
}

function resultOf(end: Exclude<WorkflowEnd, { readonly isWaiting: true }>): CallResult {
  if ('isTimedOut' in end) return toolFailure('Workflow execution timeout exceeded');
  if ('failed' in end) return toolFailure(`Workflow execution failed: ${end.failed}`);
  const content = [{ type: 'text', text: JSON.stringify(end.output) }];
  return resultFromValue(isObject(end.output) ? { content, structuredContent: end.output } : { content });
}
