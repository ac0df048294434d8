import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Worker } from '#shared/http/worker.ts'
import { endpoints as admin } from './admin/endpoints.ts'
import { endpoints as agentCalls } from './agent-calls/endpoints.ts'
import { endpoints as api } from './api/endpoints.ts'
import { worker as approvedTools } from './approved-tools/worker.ts'
import { endpoints as bot } from './bot/endpoints.ts'
import { endpoints as consoleEndpoints } from './console/endpoints.ts'
import { endpoints as developer } from './developer/endpoints.ts'
import { endpoints as developerAccount } from './developer-account/endpoints.ts'
import { endpoints as docs } from './docs/endpoints.ts'
import { worker as eventFanout } from './event-fanout/worker.ts'
import { worker as inlineAgents } from './inline-agents/worker.ts'
import { endpoints as manifests } from './manifests/endpoints.ts'
import { endpoints as oauth } from './oauth/endpoints.ts'
import { worker as overdueSweep } from './overdue-sweep/worker.ts'
import { endpoints as people } from './people/endpoints.ts'
import { worker as runDispatch } from './run-dispatch/worker.ts'
import { endpoints as runStreams } from './run-streams/endpoints.ts'
import { worker as statistics } from './statistics/worker.ts'
import { worker as streamRelay } from './stream-relay/worker.ts'
import { endpoints as tools } from './tools/endpoints.ts'
import { worker as webhookDelivery } from './webhook-delivery/worker.ts'
import { endpoints as workspace } from './workspace/endpoints.ts'

/** Every request-serving function with the endpoints it serves. Infra, the OpenAPI document and the tests read this. */
export const requestFunctions: Record<string, Endpoint[]> = {
  oauth,
  api,
  workspace,
  console: consoleEndpoints,
  bot,
  people,
  developer,
  'developer-account': developerAccount,
  manifests,
  admin,
  docs,
  'agent-calls': agentCalls,
  tools,
  'run-streams': runStreams,
}

/** Every worker. */
export const workers: Worker[] = [
  streamRelay,
  eventFanout,
  runDispatch,
  inlineAgents,
  approvedTools,
  webhookDelivery,
  overdueSweep,
  statistics,
]
