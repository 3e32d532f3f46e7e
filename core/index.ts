// The public exports of the core; named exports only.

export { classifySignal, classifyState } from './backend/health/classify-signal.ts';
export { inheritedEnvironment, programEnvironment } from './backend/transports/inherited-environment.ts';
export { type EndTurn, takeInstallTurn } from './backend/transports/install-turn.ts';
export { type PackageRun, packageRunOf } from './backend/transports/package-runner.ts';
export { isAmbiguousUri } from './catalog/ambiguous-uri.ts';
export type { Catalog, CatalogConflict } from './catalog/catalog.ts';
export { itemBytes, renamed } from './catalog/entry-definition.ts';
export { innerCallNames } from './catalog/inner-call-names.ts';
export type { Authorizer, AuthStrategy, BackendAuthorizer } from './contract/auth-strategy.ts';
export type {
  AuthContext,
  Backend,
  BackendHealth,
  BackendHello,
  BackendRequest,
  BackendSignal,
  BackendState,
  BackendStatus,
  Command,
  HealthStatus,
} from './contract/backend.ts';
export type { BackendSource, ExpectedBackend, PushBackends, SourceState } from './contract/backend-source.ts';
export type { BytesInFlight, MemoryBudget } from './contract/bytes-in-flight.ts';
export type {
  Call,
  CallMethod,
  CallRecord,
  CallResult,
  CatalogEntry,
  Dispatch,
  PromptEntry,
  Reply,
  ResourceEntry,
  TemplateEntry,
  ToolEntry,
} from './contract/call.ts';
export type { Caller } from './contract/caller.ts';
export type { CatalogDraft, CatalogInputs } from './contract/catalog-draft.ts';
export type { EntryKind, HiddenBy, MirroredParam } from './contract/catalog-entry.ts';
export type {
  ClientContext,
  ClientRequester,
  ClientResponse,
  SessionListener,
  SessionOwner,
} from './contract/client-context.ts';
export type { Era, EraSetting } from './contract/era.ts';
export type {
  BackendChanged,
  CatalogRebuilt,
  SessionEnded,
} from './contract/event.ts';
export type { Inbound, Responder, ResponseHeaders, ResponseStream } from './contract/inbound.ts';
export type { JsonObject, JsonValue, RawJson } from './contract/json.ts';
export type { ListStore } from './contract/list-store.ts';
export type { Refusal } from './contract/refusal.ts';
export type { MessageView, RequestRecord } from './contract/request-record.ts';
export type { RouteAnswer, RouteOptions, RouteTable } from './contract/route.ts';
export type {
  Sandbox,
  ScriptAnswer,
  ScriptFailure,
  ScriptFunction,
  ScriptJob,
  ScriptLimits,
  ScriptOutcome,
} from './contract/sandbox.ts';
export type {
  Searcher,
  SearchIndex,
  SearchMatch,
  SearchQuery,
} from './contract/searcher.ts';
export type { Secret } from './contract/secret.ts';
export type { SecretSource } from './contract/secret-source.ts';
export type { SessionView } from './contract/session.ts';
export type { StdioLauncher, StdioProcess } from './contract/stdio-launcher.ts';
export type {
  AddedRoots,
  CompiledStep,
  Elicited,
  StepCompileContext,
  StepOutput,
  StepPath,
  StepRunContext,
  StepTemplate,
  StepType,
} from './contract/step.ts';
export type { Bucket, Store } from './contract/store.ts';
export type { WireError } from './contract/wire-error.ts';
export { type MissingFeature, missingFeatures, missingPackage } from './errors/missing-package.ts';
export {
  causesOf,
  explainCause,
  FAULTS,
  type FaultCode,
  faultFrom,
  GatewayFault,
  UserActionRequired,
} from './errors.ts';
export { ANONYMOUS } from './extension/anonymous.ts';
export { CallRefused } from './extension/call-refused.ts';
export type {
  AcceptedTokens,
  Choice,
  ContractSection,
  FileFacts,
  ListedBackend,
  PlanPart,
  PluginUse,
  RunningBackend,
  SectionOverview,
  SectionPlace,
  SectionProblem,
  SectionReader,
  StrategyUse,
} from './extension/contract-section.ts';
export { type Decision, tapDecision } from './extension/decision.ts';
export { explainIssues } from './extension/explain-issues.ts';
export {
  type DefinedHook,
  defineHook,
  defineSlot,
  type HookDefinition,
  type HookKind,
  type Slot,
} from './extension/extension-points.ts';
export { fieldPath } from './extension/field-path.ts';
export type { Hooks } from './extension/hooks.ts';
export { createLog, LOG_NAMES, type LogName, stderrLog } from './extension/log.ts';
export { createOutageLog, type Outage, type OutageLines } from './extension/log-outage.ts';
export { type ThrottledLine, throttledLine } from './extension/log-throttle.ts';
export { nearest } from './extension/nearest.ts';
export {
  type Backends,
  type Core,
  definePlugin,
  type EndpointSettings,
  type InnerCall,
  type Log,
  type Plugin,
} from './extension/plugin.ts';
export { Registry } from './extension/registry.ts';
export type { Slots } from './extension/slots.ts';
export { STAGE, type StageName } from './extension/stages.ts';
export { createGateway, type GatewayOptions } from './gateway/assemble.ts';
export { checkPlan, type PlanCheck } from './gateway/check-plan.ts';
export {
  type Catalogue,
  type CatalogueEntry,
  findPlugin,
  type ImportFile,
  type LoadPlugin,
  type PluginPlaces,
} from './gateway/find-plugin.ts';
export type { Gateway } from './gateway/gateway.ts';
export { createMemoryBudget } from './gateway/memory-budget.ts';
export { type OpenedPlugins, openPlugins, type PluginHost } from './gateway/open-plugins.ts';
export { type Plan, type PlanInput, planSchema, readPlan } from './gateway/plan.ts';
export { readCaBundle } from './http1/ca-bundle.ts';
export { type ProxyRoute, proxyRouteFor } from './http1/proxy-route.ts';
export { foldCase, hasRepeatedMembers } from './json/ambiguous-names.ts';
export { decode, decodeObject, encode, isObject } from './json/json-value.ts';
export { RawObject } from './json/raw-json.ts';
export { DEFAULT_LIMITS, type Limits, limitsSchema } from './limits.ts';
export { CONNECTION_FIELDS, CONTENT_FIELDS, FIELD_NAME, FIELD_VALUE } from './mcp/header-fields.ts';
export { endToEndMeta, MISSING_BACKENDS } from './mcp/meta.ts';
export { CALL_METHODS, CLIENT_METHODS } from './mcp/methods.ts';
export { mirrorArguments, readAnnotations } from './mcp/mirrored-params.ts';
export { resultFromBytes, resultFromValue, toolFailure } from './mcp/result.ts';
export { networkOf, Shares, shareOfCall } from './mcp/shares.ts';
export { type CallChanges, callWith } from './pipeline/call-value.ts';
export { restrictedHeaderPattern } from './pipeline/passthrough-headers.ts';
export { CallError } from './pipeline/wire-faults.ts';
export type { FetchOptions } from './server/http/fetch-adapter.ts';
export type { HandleOptions } from './server/http/node-adapter.ts';
export { createPreflight, DEFAULT_ORIGINS, type GuardOptions } from './server/http/origin.ts';
export { isOwnOrigin } from './server/http/own-origin.ts';
export { recordOf } from './server/http/request-recorder.ts';
export { type BackOff, backOffMs } from './timing/back-off.ts';
export { untilAborted } from './timing/until-aborted.ts';
export { LATE, LONGEST_TIMER_MS, within } from './timing/within.ts';
