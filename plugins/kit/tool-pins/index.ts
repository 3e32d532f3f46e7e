export {
  type Comparison,
  comparisons,
  type Decided,
  type Decision,
  decide,
  type HeldDefinition,
  heldNamed,
  type ListedEntry,
  listedEntries,
} from './decide.ts';
export { canonicalJson, type PinnedDefinition, pinnedDefinition, pinnedInstructions } from './definition.ts';
export { changedMembers, type Difference, differences } from './differences.ts';
export { approved, type JudgeContext, judge, type PinningMode, rejected, type Verdict } from './judge.ts';
export { type LockedPins, lockedPins, wrongHash } from './lock.ts';
export { heldCounts, type PinChange, pinChanges } from './pin-changes.ts';
export {
  type ChangedPins,
  changePins,
  type EntryPins,
  type Held,
  isKnown,
  MOST_OF_ENTRY,
  NO_PINS,
  type Pin,
  type Pins,
  pinsOf,
  readPins,
  withChanges,
} from './pins-file.ts';
export { type PinsFile, pinsFileOf, pinsFiles } from './pins-files.ts';
export { type Finding, scan } from './scan.ts';
export { SCAN_RULES, type ScanRule } from './scan-rules.ts';
export { type BackendShare, SHARE, shareOf, withinShare } from './share.ts';
export { visibleLine, visibleText } from './visible-text.ts';
