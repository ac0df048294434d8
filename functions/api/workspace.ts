import { AgentSchema, listAgents, presentAgent } from '#shared/agents/calls/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import {
  listMembers,
  MemberSchema,
  OrganizationSchema,
  presentMember,
  presentOrganization,
} from '#shared/identity/people/index.ts'

const members = defineEndpoint({
  id: 'api.members.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/members',
  caller: 'integration',
  scope: 'members:read',
  summary: 'List the workspace’s members',
  description: 'The oldest accounts come first.',
  list: {
    read: ({ work, caller }, page) => listMembers(work, caller.workspace.id, page),
    present: ({ member, user }) => presentMember(member, user),
  },
  response: MemberSchema,
})

const agents = defineEndpoint({
  id: 'api.agents.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/agents',
  caller: 'integration',
  scope: 'agents:read',
  summary: 'List the workspace’s agents, newest first',
  description:
    'Lists the agents that `ask_agent` and `delegate_task` can name, and the tools that their installed versions ' +
    'offer.',
  list: {
    read: ({ work, caller }, page) => listAgents(work, caller.workspace.id, page),
    present: (agent, { work, caller }) => presentAgent(work, agent, caller),
  },
  response: AgentSchema,
  needs: ['objects:read'],
})

const workspace = defineEndpoint({
  id: 'api.workspace.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/workspace',
  caller: 'integration',
  scope: 'workspace:read',
  summary: 'Get the integration’s workspace',
  response: OrganizationSchema,
  handler: async ({ caller }) => presentOrganization(caller.workspace),
})

export const endpoints = [members, agents, workspace]
