import { removeSandboxSeed, SeededSchema, seedSandbox } from '#shared/agents/sandbox/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'

const seed = defineEndpoint({
  id: 'developer.sandbox.seed',
  group: 'developer',
  method: 'POST',
  path: '/api/v1/dev/sandbox/seed',
  caller: 'developer',
  summary: 'Fill the sandbox workspace with sample records',
  description:
    'Creates tasks, finished runs, files, notifications and a conversation for the agents that are installed in the ' +
    'sandbox. The files include a customer list with phone numbers, in the folder Contacts. If no agent is ' +
    'installed, one from the marketplace is installed first. Repeating the request first deletes the records of the ' +
    'previous one. Sample records don’t emit events.',
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
  summary: 'Delete the sample records from the sandbox workspace',
  description:
    'Deletes only what seeding created, even if it was changed since. A folder that contains other files is kept, ' +
    'and so is an installation that was used.',
  status: 204,
  errors: ['conflict'],
  needs: ['files:write'],
  handler: async ({ work, caller }) => {
    await removeSandboxSeed(work, caller.developerId)
    return undefined
  },
})

export const endpoints = [seed, unseed]
