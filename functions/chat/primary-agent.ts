import { PrimaryAgent, PrimaryAgentSchema, setPrimaryAgent } from '#shared/domain/conversations/primary-agent.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

export const setPrimary = defineEndpoint({
  id: 'console.settings.setPrimaryAgent',
  group: 'console',
  method: 'PUT',
  path: '/console/settings/primary-agent',
  caller: 'console',
  role: 'admin',
  summary: 'Choose who answers the main chats',
  description:
    'Everybody’s main chat in the workspace, from the next message on: each message reaches the chosen agent as a run with ' +
    'the trigger `chat`. The agent sees of each chat what is said from then on, and nothing from before. Null returns to ' +
    'the platform’s orchestrator, which also answers while the chosen agent is suspended or after it was uninstalled.',
  body: PrimaryAgent,
  response: PrimaryAgentSchema,
  errors: ['not_found', 'installation_suspended', 'app_suspended'],
  handler: ({ work, caller, body }) => setPrimaryAgent(work, caller.member, body.installation_id),
})
