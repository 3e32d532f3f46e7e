/** Audit lines that name the line before them, and signatures over them. */
export { type AuditChain, type ChainEnd, createAuditChain, hashOfLine, isPlace } from './chain.ts';
export {
  type ChainChecks,
  type ChainProblem,
  type ChainReport,
  createChainChecks,
} from './check-chain.ts';
