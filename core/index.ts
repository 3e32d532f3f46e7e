// The public exports of the core; named exports only.

export { classifySignal, classifyState } from './backend/health.ts';
export { programEnvironment } from './backend/transports/inherited-environment.ts';
export { installTurnOf } from './backend/transports/install-turn.ts';
export { isAmbiguousUri } from './catalog/ambiguous-uri.ts';
export { itemBytes, renamed } from './catalog/entry-definition.ts';
export { innerCallNames } from './catalog/inner-call-names.ts';
export type { Authorizer, AuthStrategy } from './contract/auth-strategy.ts';
export type { AuthContext, Backend, BackendHealth, BackendRequest, BackendState } from './contract/backend.ts';
export type { BackendSource, ExpectedBackend, PushBackends } from './contract/backend-source.ts';
export type { Call, CallRecord, CallResult, CatalogEntry, Dispatch, Reply, ToolEntry } from './contract/call.ts';
export type { Caller } from './contract/caller.ts';
export type { CatalogDraft, CatalogInputs } from './contract/catalog-draft.ts';
export type { ClientContext } from './contract/client-context.ts';
export type { Era } from './contract/era.ts';
export type { BackendChanged, CatalogRebuilt, LoopBlocked, SessionEnded } from './contract/event.ts';
export type { Inbound, Responder, ResponseHeaders } from './contract/inbound.ts';
export type { JsonObject, JsonValue, RawJson } from './contract/json.ts';
export type { Refusal } from './contract/refusal.ts';
export type { RequestRecord } from './contract/request-record.ts';
export type { RouteAnswer, RouteTable } from './contract/route.ts';
export type {
  Sandbox,
  ScriptAnswer,
  ScriptFunction,
  ScriptJob,
  ScriptLimits,
  ScriptOutcome,
} from './contract/sandbox.ts';
export type { Searcher, SearchIndex } from './contract/searcher.ts';
export type { Secret } from './contract/secret.ts';
export type { SecretSource } from './contract/secret-source.ts';
export type { StdioLauncher, StdioProcess } from './contract/stdio-launcher.ts';
export type {
  AddedRoots,
  CompiledStep,
  Elicited,
  StepOutput,
  StepRunContext,
  StepTemplate,
  StepType,
} from './contract/step.ts';
export type { Bucket, Store } from './contract/store.ts';
export { missingFeatures, missingPackage } from './errors/missing-package.ts';
export { shortened } from './errors/shortened.ts';
export { causesOf, explainCause, faultFrom, GatewayFault, UserActionRequired } from './errors.ts';
export { ANONYMOUS } from './extension/anonymous.ts';
export { CallRefused } from './extension/call-refused.ts';
export type {
  ContractSection,
  FileFacts,
  PlanPart,
  SectionProblem,
  SectionReader,
  StrategyUse,
} from './extension/contract-section.ts';
export { tapDecision } from './extension/decision.ts';
export { explainIssues } from './extension/explain-issues.ts';
export { defineHook, defineSlot, type HookDefinition, type Slot } from './extension/extension-points.ts';
export { fieldPath } from './extension/field-path.ts';
export { createLog, LOG_NAMES } from './extension/log.ts';
export { createOutageLog } from './extension/log-outage.ts';
export { throttledLine } from './extension/log-throttle.ts';
export { nearest } from './extension/nearest.ts';
export { type Core, definePlugin, type Log, type Plugin } from './extension/plugin.ts';
export { Registry } from './extension/registry.ts';
export type { Slots } from './extension/slots.ts';
export { STAGE } from './extension/stages.ts';
export { createGateway, type GatewayOptions } from './gateway/assemble.ts';
export { checkPlan } from './gateway/check-plan.ts';
export { type Catalogue, findPlugin } from './gateway/find-plugin.ts';
export type { Gateway } from './gateway/gateway.ts';
export { createMemoryBudget } from './gateway/memory-budget.ts';
export { openPlugins } from './gateway/open-plugins.ts';
export { type Plan, type PlanInput, planSchema, readPlan } from './gateway/plan.ts';
export { proxyRouteFor } from './http1/proxy-route.ts';
export { readCaBundle } from './http1/tls-files.ts';
export { foldCase, hasRepeatedMembers } from './json/ambiguous-names.ts';
export { decode, decodeObject, encode, isObject, parsedJson } from './json/json-value.ts';
export { present } from './json/present.ts';
export { RawObject } from './json/raw-json.ts';
export { DEFAULT_LIMITS } from './limits.ts';
export { resultFromBytes, resultFromValue, toolFailure } from './mcp/envelope.ts';
export { CONNECTION_FIELDS, CONTENT_FIELDS, FIELD_NAME, FIELD_VALUE } from './mcp/header-fields.ts';
export { endToEndMeta, MISSING_BACKENDS } from './mcp/meta.ts';
export { CLIENT_METHODS } from './mcp/methods.ts';
export { mirroredHeaders } from './mcp/mirrored-params.ts';
export { networkOf, Shares, shareOfCall } from './mcp/shares.ts';
export { callWith } from './pipeline/call-value.ts';
export { restrictedHeaderPattern } from './pipeline/passthrough-headers.ts';
export { CallError } from './pipeline/wire-faults.ts';
export { createPreflight, DEFAULT_ORIGINS, isOwnOrigin } from './server/http/origin.ts';
export { recordOf } from './server/http/request-recorder.ts';
export { backOffMs } from './timing/back-off.ts';
export { untilAborted } from './timing/until-aborted.ts';
export { LATE, LONGEST_TIMER_MS, within } from './timing/within.ts';
