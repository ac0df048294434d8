import { expect } from 'vitest'
import { newNotification } from '#shared/domain/notifications/new.ts'
import { type Notification, NotificationEntity } from '#shared/entities/notifications.ts'
import { workOf } from '#test/functions/people/support.ts'
import { installed } from '#test/support/fixtures.ts'
import type { TestPlatform } from '#test/support/platform.ts'

/** A person with a token, and what they ask of the console. */
export const asking = (platform: TestPlatform, token: string) => {
  const call = (method: string, path: string, body?: unknown) => {
    platform.clock.advance(200)
    return platform.call(method, `/console${path}`, { token, ...(body !== undefined && { body }) })
  }
  return {
    call,
    /** What has to be answered. */
    read: async (path: string) => {
      const answer = await call('GET', path)
      expect(answer.status, answer.text).toBe(200)
      return answer.body
    },
    mark: async (body: unknown) => {
      const answer = await call('POST', '/notifications/read', body)
      expect(answer.status, answer.text).toBe(200)
      return answer.body
    },
  }
}

/** Tells people of a workspace something, as agents do; the event waits for `drain`. */
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

/** A run of an installed agent that waits for somebody to allow it something. */
export const awaiting = async (platform: TestPlatform, endpoint: string, workspaceId?: string) => {
  const app = await installed(platform.deps, { endpoint, ...(workspaceId && { workspaceId }) })
  return { app, ...(await wait(platform, app.token)) }
}

/** One more run that waits. */
export const wait = async (platform: TestPlatform, token: string) => {
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
