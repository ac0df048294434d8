import { defineEndpoint } from '#shared/http/endpoint.ts'
import { PrimaryAgent, PrimaryAgentSchema, setPrimaryAgent } from '#shared/work/answering/index.ts'

const setPrimary = defineEndpoint({
  id: 'console.settings.setPrimaryAgent',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/primary-agent',
  caller: 'console',
  role: 'admin',
  summary: 'Choose the agent that answers main conversations',
  description:
    'Applies to every member’s main conversation, from the next message. Each message starts a run of the chosen ' +
    'agent with the trigger `chat`. The agent can’t see earlier messages. It needs the scopes `chat:read` and ' +
    '`chat:write` (`conflict`). Send null to return to the platform’s orchestrator, which also answers while the ' +
    'chosen agent is suspended or may not use these scopes, and after it is uninstalled.',
  body: PrimaryAgent,
  response: PrimaryAgentSchema,
  errors: ['not_found', 'installation_suspended', 'access_withdrawn', 'app_suspended', 'conflict'],
  handler: ({ work, caller, body }) => setPrimaryAgent(work, caller.member, body.installation_id),
})

export const endpoints = [setPrimary]
