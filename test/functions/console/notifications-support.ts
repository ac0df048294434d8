import { expect } from 'vitest'
import { type Notification, NotificationEntity } from '#shared/identity/notifications/entity.ts'
import { newNotification } from '#shared/identity/notifications/new.ts'
import { installed } from '#testkit/fixtures.ts'
import { succeeded, type TestPlatform } from '#testkit/platform.ts'
import { workOf } from './people-support.ts'

/** Returns functions for a person's requests to the console. */
export const consoleOf = (platform: TestPlatform, token: string) => {
  const call = (method: string, path: string, body?: unknown) => {
    platform.clock.advance(200)
    return platform.call(method, `/console${path}`, { token, body })
  }
  return {
    call,
    read: (path: string) => succeeded(call('GET', path)),
    mark: (body: unknown) => succeeded(call('POST', '/notifications/read', body)),
  }
}

/** Notifies people of a workspace, as agents do. `drain` delivers the event. */
export const notify = async (
  platform: TestPlatform,
  workspaceId: string,
  fields: Partial<Notification> = {},
): Promise<Notification> => {
  platform.clock.advance(10)
  const { notification, writes } = newNotification(workOf(platform), {
    workspace_id: workspaceId,
    kind: 'agent.notice',
    title: 'Stock is low',
    body: 'Three pieces are left.',
    ...fields,
  })
  await platform.deps.table.transact(writes)
  return notification
}

/** Installs an agent with a run that waits for an approval. */
export const startAwaitingAgent = async (platform: TestPlatform, endpoint: string, workspaceId?: string) => {
  const app = await installed(platform.deps, { endpoint, ...(workspaceId && { workspaceId }) })
  return { app, ...(await startAwaitingRun(platform, app.token)) }
}

/** Starts another run that waits for an approval. */
export const startAwaitingRun = async (platform: TestPlatform, token: string) => {
  const { body: run } = await platform.call('POST', '/api/v1/runs', { token, body: { input: {} } })
  await platform.drain()
  const { body, text } = await platform.call('POST', '/api/v1/tools/http_fetch/invoke', {
    token,
    body: { run_id: run.id, arguments: { url: 'https://example.com/page' } },
  })
  expect(body.step_id, text).toBeTruthy()
  return { runId: run.id as string, stepId: body.step_id as string }
}

export const notificationsOf = async ({ deps }: TestPlatform, workspace_id: string) =>
  (await deps.table.query(NotificationEntity, { workspace_id }, { limit: 100 })).items
