import { atLeast, isMembership, type Member } from '#shared/identity/people/index.ts'
import { hostIn } from '#shared/kernel/folded-address.ts'
import { type Reading, readNumber } from './read-number.ts'
import type { ApprovalRule } from './schemas.ts'

/** A call, as rules look at it. */
export interface RuledCall {
  app_id: string
  tool: string
  /** Origin of the request that the call sends, if it sends one. */
  origin: string | undefined
}

/** The rule for calls that no other one is for: any member approves. */
const ANYONE: ApprovalRule = {
  name: '',
  app_ids: [],
  tools: [],
  hosts: [],
  approvers: { role: 'member', user_ids: [] },
  second_person: null,
  requester_may_approve: true,
  expires_after_minutes: 1_440,
}

const isHost = (pattern: string, host: string): boolean =>
  pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern

/** Finds the first rule that a call matches. */
export const ruleFor = (rules: readonly ApprovalRule[], { app_id, tool, origin }: RuledCall): ApprovalRule => {
  const host = origin === undefined ? undefined : hostIn(origin)
  const isOneOf = (wanted: readonly string[], given: string): boolean => wanted.length === 0 || wanted.includes(given)
  return (
    rules.find(
      (rule) =>
        isOneOf(rule.app_ids, app_id) &&
        isOneOf(rule.tools, tool) &&
        (rule.hosts.length === 0 || (host !== undefined && rule.hosts.some((pattern) => isHost(pattern, host)))),
    ) ?? ANYONE
  )
}

/** Number of people who have to approve a call, and the number that decided it. */
export interface Needed {
  people: 1 | 2
  /** Absent if the rule reads none. */
  reading?: { field: string; at_least: number } & Reading
}

/** Returns the number of people who have to approve a call. Two, if the rule's number can't be read. */
export const peopleNeeded = ({ second_person }: ApprovalRule, args: Record<string, unknown>): Needed => {
  if (second_person === null) return { people: 1 }
  if (second_person.when === 'always') return { people: 2 }
  const { field, amount: at_least } = second_person
  const reading = readNumber(args, field)
  const people = reading.value !== undefined && Math.abs(reading.value) < at_least ? 1 : 2
  return { people, reading: { field, at_least, ...reading } }
}

/** Start of the membership of each person whom rules name. */
export type NamedSince = Readonly<Record<string, number>>

/** Returns true if the rule lets a member approve in their own name. */
export const isApprover = ({ approvers }: ApprovalRule, member: Member, named: NamedSince): boolean =>
  (approvers.role !== null && atLeast(member.role, approvers.role)) ||
  (approvers.user_ids.includes(member.user_id) && isMembership(member, named[member.user_id]))
