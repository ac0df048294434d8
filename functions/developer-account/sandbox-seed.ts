import { SeededSchema } from '#shared/domain/sandbox/schemas.ts'
import { seedSandbox } from '#shared/domain/sandbox/seed/make.ts'
import { unseedSandbox } from '#shared/domain/sandbox/seed/remove.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const seed = defineEndpoint({
  id: 'developer.sandbox.seed',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/seed',
  caller: 'developer',
  summary: 'Fill the sandbox workspace with sample records',
  description:
    'Tasks, finished runs, files (a customer list with telephone numbers in the folder Contacts among them), ' +
    'notifications and a conversation, for the agents that are installed in the sandbox; where there is none, one of the ' +
    'marketplace is installed. A repeated call first removes what the earlier one made. Sample records send no events.',
  response: SeededSchema,
  errors: ['marketplace_empty', 'forbidden', 'conflict', 'installation_suspended'],
  needs: ['objects:write', 'files:write'],
  handler: ({ work, caller }) => seedSandbox(work, caller.developerId),
})

const unseed = defineEndpoint({
  id: 'developer.sandbox.unseed',
  group: 'developer',
  method: 'DELETE',
  path: '/api/v1/dev/sandbox/seed',
  caller: 'developer',
  summary: 'Remove the sample records from the sandbox workspace',
  description:
    'Removes only what seeding made, as it is by now. A folder that holds other files stays, and so does an installation ' +
    'that was used.',
  status: 204,
  errors: ['conflict'],
  needs: ['files:write'],
  handler: async ({ work, caller }) => {
    await unseedSandbox(work, caller.developerId)
    return undefined
  },
})

export const seedEndpoints = [seed, unseed]
