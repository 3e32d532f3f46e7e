/** What features mount in the manager: operations, their problems, long work and events. Hosts serve them. */
export type { JobItem, JobOutcome, JobStatus, Jobs, ManagementEvent, PublishEvent } from './events.ts';
export {
  type BackgroundContext,
  backgroundWork,
  type OperationHome,
  operationHomes,
  operations,
  type PageView,
  pageViews,
} from './extension-points.ts';
export {
  type ClientPlace,
  clientPlaces,
  type FindClients,
  type RegistrySkillPackage,
  type SkillHome,
  type SkillLookup,
  skillHomes,
  skillLookups,
} from './feature-slots.ts';
export {
  type Answer,
  type AnswerSpec,
  isProblem,
  type Operation,
  type OperationCommand,
  type OperationContext,
  type OperationRequest,
  type OperationTool,
  operation,
} from './operation.ts';
export {
  type FieldProblem,
  PROBLEMS,
  type Problem,
  type ProblemBody,
  type ProblemCode,
  problem,
  problemBody,
} from './problems.ts';
export { checkProjectRoot } from './project-root.ts';
