export {
  type ApproversOf,
  type Authority,
  approversAmong,
  authorityChecks,
  describeApprovers,
  findAuthority,
} from './authority.ts'
export { endAway, readAway, setAway } from './away.ts'
export { AwayEntity } from './entity.ts'
export { peopleNeeded, ruleFor } from './match.ts'
export { findAmount, UNREAD } from './read-number.ts'
export { loadRules, readRules, rulesCheck, setRules } from './rules.ts'
export { ApprovalRulesSchema, AwaySchema, SetApprovalRules, SetAway } from './schemas.ts'
