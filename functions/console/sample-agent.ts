import { InstallationDetailsSchema } from '#shared/access/installations/index.ts'
import { installSampleAgent } from '#shared/agents/sample/index.ts'
import { DemoSchema, seedDemo } from '#shared/agents/sandbox/index.ts'
import { defineEndpoint } from '#shared/http/endpoint.ts'
import { INSTALL_ERRORS } from './support/install-errors.ts'

const install = defineEndpoint({
  id: 'console.sampleAgent.install',
  group: 'console',
  method: 'POST',
  path: '/console/sample-agent',
  caller: 'console',
  role: 'admin',
  summary: 'Install the platform’s sample agent',
  description:
    'It answers by fixed rules, without a language model, a key or the network: to try conversations, runs and tasks in ' +
    'a new workspace. Installing it again changes nothing.',
  status: 201,
  response: InstallationDetailsSchema,
  errors: INSTALL_ERRORS,
  handler: ({ work, caller }) => installSampleAgent(work, caller),
})

const fill = defineEndpoint({
  id: 'console.sampleAgent.fillDemo',
  group: 'console',
  method: 'POST',
  path: '/console/demo',
  caller: 'console',
  role: 'admin',
  summary: 'Fill the workspace with a demo, in the local run',
  description:
    'Installs the sample agent, and creates tasks, finished runs that its figures count, a run that waits for an approval, ' +
    'notifications, a schedule and a conversation. Works once for each workspace, and only in local runs ' +
    '(`console_provisioning_disabled`).',
  status: 201,
  response: DemoSchema,
  errors: ['console_provisioning_disabled', 'conflict', ...INSTALL_ERRORS],
  handler: ({ work, caller }) => seedDemo(work, caller),
})

export const endpoints = [install, fill]
