import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  ApprovalRulesSchema,
  AwaySchema,
  endAway,
  readAway,
  readRules,
  SetApprovalRules,
  SetAway,
  setAway,
  setRules,
} from '#shared/work/approval-rules/index.ts'

const rules = { group: 'console', path: '/console/settings/approvals', caller: 'console' } as const
const away = { group: 'console', path: '/console/me/away', caller: 'console' } as const

const read = defineEndpoint({
  ...rules,
  id: 'console.approvalRules.read',
  method: 'GET',
  summary: 'Get the workspace’s rules for approvals',
  description: 'The first rule that a call matches decides. Without a matching rule, any member may approve.',
  response: ApprovalRulesSchema,
  handler: ({ work, caller }) => readRules(work, caller.workspace.id),
})

const set = defineEndpoint({
  ...rules,
  id: 'console.approvalRules.set',
  method: 'PUT',
  role: 'owner',
  summary: 'Replace the workspace’s rules for approvals',
  description:
    'They say who may approve which calls, when a second person has to, and how long a call waits. They apply to the ' +
    'next decision, also on calls that wait already. At most 50.',
  body: SetApprovalRules,
  response: ApprovalRulesSchema,
  errors: ['conflict'],
  handler: ({ work, caller, body }) => setRules(work, caller.workspace, caller.user, body),
})

const readOwn = defineEndpoint({
  ...away,
  id: 'console.away.read',
  method: 'GET',
  summary: 'Get who approves in your place, and in whose place you do',
  response: AwaySchema,
  handler: ({ work, caller }) => readAway(work, caller.workspace.id, caller.user),
})

const setOwn = defineEndpoint({
  ...away,
  id: 'console.away.set',
  method: 'PUT',
  summary: 'Let another member approve in your place',
  description:
    'Until then they may approve what you may. They can’t pass that on, and the two of you count as one person where ' +
    'two have to approve.',
  body: SetAway,
  response: AwaySchema,
  handler: ({ work, caller, body }) => setAway(work, caller.member, caller.user, body),
})

const end = defineEndpoint({
  ...away,
  id: 'console.away.end',
  method: 'DELETE',
  summary: 'End your absence',
  status: 204,
  handler: async ({ work, caller }) => {
    await endAway(work, caller.workspace.id, caller.user)
    return undefined
  },
})

export const endpoints = [read, set, readOwn, setOwn, end]
