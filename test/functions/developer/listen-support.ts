import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '#shared/kernel/scopes.ts'
import { newApp, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { type Answer, succeeded } from '#testkit/platform.ts'

/** Address that doesn't exist. Publishing a manifest doesn't resolve it. */
export const PLACEHOLDER = 'https://agent.not-there.example/run'

export interface ListenerEvent {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  data: any
}

/** Parses the text of an event stream. */
const eventsOf = (text: string): ListenerEvent[] =>
  text.split('\n\n').flatMap((block) => {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    )
    return fields.event ? [{ id: fields.id ?? '', event: fields.event, data: JSON.parse(fields.data ?? 'null') }] : []
  })

const SCOPES: readonly Scope[] = [
  'workspace:read',
  'runs:read',
  'runs:write',
  'tasks:read',
  'chat:read',
  'tools:invoke',
  'webhooks:manage',
]

/** Creates an app whose agent only a listener can reach, installed in the developer's sandbox. */
export const newSandboxedApp = async (developer: TestDeveloper, scopes = SCOPES) => {
  const app = await newApp(developer, { requested_scopes: scopes })
  await succeeded(publish(developer, app, { runtime: { type: 'webhook', endpoint: PLACEHOLDER } }))
  const { body } = await developer.call('POST', `/api/v1/dev/apps/${app.id}/sandbox-token`)
  return { app, token: body.access_token as string }
}

/** Opens one connection of a listener and returns its events. Streams last 400 ms in tests. */
export const listenOnce = async (
  developer: TestDeveloper,
  app: TestApp,
  lastEventId?: string,
): Promise<ListenerEvent[]> => {
  const headers = lastEventId === undefined ? undefined : { 'last-event-id': lastEventId }
  const { status, text } = await developer.call('GET', `/api/v1/dev/listen?app_id=${app.id}`, undefined, headers)
  if (status !== 200) throw new Error(text)
  return eventsOf(text)
}

export const answerTo = (developer: TestDeveloper, id: string, body: object): Promise<Answer> =>
  developer.call('POST', `/api/v1/dev/listen/${id}/answer`, body)

export const until = async <T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> => {
  for (let n = 0; n < 3_000; n++) {
    const found = await ask()
    if (found !== undefined) return found
    await pause(20)
  }
  throw new Error('timed out')
}
