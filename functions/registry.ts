import type { Endpoint } from '#shared/http/endpoint.ts'
import type { Worker } from '#shared/http/worker.ts'
import { endpoints as admin } from './admin/endpoints.ts'
import { endpoints as agentCalls } from './agent-calls/endpoints.ts'
import { endpoints as api } from './api/endpoints.ts'
import { endpoints as appModeration } from './app-moderation/endpoints.ts'
import { worker as approvedTools } from './approved-tools/worker.ts'
import { endpoints as bot } from './bot/endpoints.ts'
import { endpoints as chat } from './chat/endpoints.ts'
import { endpoints as consoleEndpoints } from './console/endpoints.ts'
import { endpoints as consoleFiles } from './console-files/endpoints.ts'
import { endpoints as consolePage } from './console-page/endpoints.ts'
import { endpoints as developer } from './developer/endpoints.ts'
import { endpoints as developerAccount } from './developer-account/endpoints.ts'
import { endpoints as docs } from './docs/endpoints.ts'
import { worker as eventFanout } from './event-fanout/worker.ts'
import { endpoints as exports } from './exports/endpoints.ts'
import { endpoints as feedback } from './feedback/endpoints.ts'
import { worker as inlineAgents } from './inline-agents/worker.ts'
import { endpoints as installationSettings } from './installation-settings/endpoints.ts'
import { endpoints as listenStreams } from './listen-streams/endpoints.ts'
import { endpoints as listening } from './listening/endpoints.ts'
import { endpoints as manifests } from './manifests/endpoints.ts'
import { endpoints as marketplace } from './marketplace/endpoints.ts'
import { endpoints as messenger } from './messenger/endpoints.ts'
import { endpoints as messengerUpdates } from './messenger-updates/endpoints.ts'
import { worker as messengerWorker } from './messenger-worker/worker.ts'
import { endpoints as moderation } from './moderation/endpoints.ts'
import { endpoints as moderationCalls } from './moderation-calls/endpoints.ts'
import { endpoints as moderationTestRuns } from './moderation-test-runs/endpoints.ts'
import { worker as notificationDelivery } from './notification-delivery/worker.ts'
import { endpoints as oauth } from './oauth/endpoints.ts'
import { endpoints as observation } from './observation/endpoints.ts'
import { worker as overdueSweep } from './overdue-sweep/worker.ts'
import { endpoints as oversight } from './oversight/endpoints.ts'
import { endpoints as overview } from './overview/endpoints.ts'
import { endpoints as people } from './people/endpoints.ts'
import { worker as removals } from './removals/worker.ts'
import { worker as runDispatch } from './run-dispatch/worker.ts'
import { endpoints as runStreams } from './run-streams/endpoints.ts'
import { endpoints as staffPage } from './staff-page/endpoints.ts'
import { worker as statistics } from './statistics/worker.ts'
import { worker as streamRelay } from './stream-relay/worker.ts'
import { endpoints as tools } from './tools/endpoints.ts'
import { worker as webhookDelivery } from './webhook-delivery/worker.ts'
import { endpoints as workspace } from './workspace/endpoints.ts'
import { worker as workspaceRemoval } from './workspace-removal/worker.ts'

/** Every request-serving function with the endpoints it serves. Infra, the OpenAPI document and the tests read this. */
export const requestFunctions: Record<string, Endpoint[]> = {
  oauth,
  api,
  workspace,
  console: consoleEndpoints,
  chat,
  'console-files': consoleFiles,
  overview,
  'console-page': consolePage,
  'staff-page': staffPage,
  bot,
  people,
  feedback,
  developer,
  'developer-account': developerAccount,
  manifests,
  marketplace,
  'installation-settings': installationSettings,
  admin,
  moderation,
  'app-moderation': appModeration,
  'moderation-calls': moderationCalls,
  'moderation-test-runs': moderationTestRuns,
  oversight,
  observation,
  exports,
  docs,
  'agent-calls': agentCalls,
  tools,
  'run-streams': runStreams,
  'listen-streams': listenStreams,
  listening,
  messenger,
  'messenger-updates': messengerUpdates,
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
  workspaceRemoval,
  statistics,
  notificationDelivery,
  removals,
  messengerWorker,
]
