import { AgentSchema, listAgents, presentAgent } from '#shared/domain/agents/list.ts'
import { listMembers } from '#shared/domain/people/members.ts'
import { OrganizationSchema, presentOrganization } from '#shared/domain/people/organization.ts'
import { presentMember } from '#shared/domain/people/present.ts'
import { MemberSchema } from '#shared/domain/people/schemas.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { paged, pageQuery } from '#shared/http/paging.ts'

const members = defineEndpoint({
  id: 'api.members.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/members',
  caller: 'integration',
  scope: 'members:read',
  summary: 'List the organization’s staff',
  description: 'Those come first whose account is the oldest.',
  query: () => pageQuery({}),
  list: 'page',
  response: MemberSchema,
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.members.list'],
      query,
      (options) => listMembers(work, caller.workspace.id, options),
      ({ member, user }) => presentMember(member, user),
    ),
})

const agents = defineEndpoint({
  id: 'api.agents.list',
  group: 'api',
  method: 'GET',
  path: '/api/v1/agents',
  caller: 'integration',
  scope: 'agents:read',
  summary: 'List the organization’s agents, newest first',
  description: 'Whom `ask_agent` and `delegate_task` can name, and what each offers in its installed version.',
  query: () => pageQuery({}),
  list: 'page',
  response: AgentSchema,
  needs: ['objects:read'],
  handler: ({ work, caller, query }) =>
    paged(
      work,
      caller,
      ['api.agents.list'],
      query,
      (options) => listAgents(work, caller.workspace.id, options),
      (agent) => presentAgent(work, agent, caller),
    ),
})

const workspace = defineEndpoint({
  id: 'api.workspace.read',
  group: 'api',
  method: 'GET',
  path: '/api/v1/workspace',
  caller: 'integration',
  scope: 'workspace:read',
  summary: 'The organization that the integration works in',
  response: OrganizationSchema,
  handler: async ({ caller }) => presentOrganization(caller.workspace),
})

export const organizationEndpoints = [members, agents, workspace]
