import type { Caller } from '../contract/caller.ts';
import { callerClass } from '../mcp/capabilities.ts';
import { type BridgeParts, createBridge, withUrlQuestions } from '../pipeline/bridge/bridge.ts';
import { createStateSeal } from '../pipeline/bridge/request-state.ts';
import { createSuspendedCalls } from '../pipeline/bridge/suspended-calls.ts';
import { createGatewayService, type FirstLists } from '../pipeline/gateway-service.ts';
import { createPassthrough } from '../pipeline/passthrough-headers.ts';
import type { PipelineContext } from '../pipeline/perform.ts';
import { createPerforming } from '../pipeline/perform-inner.ts';
import { compilePipeline, createTargetDispatch, type Pipeline } from '../pipeline/pipeline.ts';
import { type HandoverState, sharedRounds } from './reload-handover.ts';
import type { WiredBackends, WiringParts } from './wire-backends.ts';

/**
 * Compiles the hooks and makes the service that the protocol servers call. Seals the hooks.
 * `before`: the gateway whose client sessions this one takes over, with the calls that wait for their clients.
 */
export function wirePipeline(
  { plan, hooks, watch, log, now, authorizers, endpointSettings, bytes }: WiringParts,
  { manager, catalogs, serverDescriber, gaps, serverInfo }: WiredBackends,
  before: HandoverState | undefined,
) {
  const { limits } = plan;
  const suspendedCalls = before?.suspendedCalls ?? createSuspendedCalls(limits, now);
  const seal = before?.seal ?? createStateSeal(plan.stateKey, limits.requestStateTtlMs, limits.requestStateBytes, now);
  const bridging: BridgeParts = { manager, suspendedCalls, seal, limits };
  const frozen = compilePipeline(hooks, withUrlQuestions(bridging, createTargetDispatch(manager)), now);
  const pipeline: Pipeline = {
    ...frozen,
    dispatch: createBridge(bridging, frozen.dispatch),
    mayBeOf: (ofClass) => gaps.mayBeOf(ofClass),
  };
  const rounds = before?.rounds ?? sharedRounds(limits.requestStateTtlMs, now, bytes);
  const settlesRounds = (): void => {
    rounds.settle = pipeline.settle;
  };
  if (before === undefined) settlesRounds();
  const { directPath } = endpointSettings;
  const context: PipelineContext = { pipeline, rounds: rounds.rounds, bridging, catalogs, directPath, log };
  const firstLists: FirstLists = { isSettled: false, settled: Promise.resolve() };
  const listClass = authorizers.perCaller ? listsOfCaller : undefined;
  const service = createGatewayService({
    ...context,
    manager,
    serverDescriber,
    gaps,
    seal,
    serverInfo,
    limits,
    firstLists,
    passthrough: createPassthrough(plan.passthroughHeaders),
    ...(listClass === undefined ? {} : { listClass }),
  });
  const performing = createPerforming({ ...context, manager, limits }, listClass);
  const sweeping = setInterval(() => {
    suspendedCalls.sweep();
    rounds.rounds.sweep();
    watch.sample();
  }, SWEEP_MS);
  sweeping.unref();
  return {
    pipeline,
    service,
    performing,
    firstLists,
    suspendedCalls,
    seal,
    rounds,
    /** From now on this gateway records calls that are abandoned between two rounds. */
    settlesRounds,
    stopSweeping() {
      clearInterval(sweeping);
      watch.stop();
    },
  };
}

/** See {@link wirePipeline}. */
export type WiredPipeline = ReturnType<typeof wirePipeline>;

const SWEEP_MS = 1_000;

/** A module function, because owners keep it over reloads. */
function listsOfCaller(capabilityClass: string, caller: Caller): string {
  return callerClass(capabilityClass, caller.key);
}
